"""How dates are written in each language of the pages; a time says its zone."""
