"""Bodies that the API reads."""

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class BoundedJSONParser(JSONParser):
    """JSON that is nested deeper than the machine can follow is answered 400, as any other that can't be read."""

    def parse(self, *words: Any, **facts: Any) -> Any:
        try:
            return super().parse(*words, **facts)
        except RecursionError:
            raise ParseError("This JSON is nested too deeply.") from None
