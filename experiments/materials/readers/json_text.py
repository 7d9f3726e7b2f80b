"""JSON of unknown origin: what the parser cannot take is a problem of the file, named with its place."""

import json
from typing import Any

from analysis.errors import BadInput


class NotJSON(BadInput):
    """A text that is not JSON, or that no reader takes."""

    def __init__(self, problem: str, *, file: str, row: int | None, has_more: bool = False) -> None:
        super().__init__(problem, file=file, row=row)
        self.has_more = has_more  # a complete document, and text after it


_DECODER = json.JSONDecoder()


def parse_json(text: str, *, file: str, row: int | None = None, decoder: json.JSONDecoder = _DECODER) -> Any:
    """Parse a document.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}', file="a.jsonl")
    {'a': [1, 2]}
    """
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        line = error.lineno if row is None else row
        raise NotJSON(
            f"not JSON at character {error.colno} ({error.msg}).",
            file=file,
            row=line,
            has_more=error.msg == "Extra data",
        ) from None
    except RecursionError:
        raise NotJSON("lists or objects are nested too deeply.", file=file, row=row) from None
    except ValueError as error:
        if type(error) is not ValueError:  # raised by the decoder's parse_constant
            raise
        raise NotJSON("a number has thousands of digits.", file=file, row=row) from None
