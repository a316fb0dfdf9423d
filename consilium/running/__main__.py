"""``python -m consilium.running``."""

import sys

from consilium.running.starting import main

if __name__ == "__main__":
    sys.exit(main())
