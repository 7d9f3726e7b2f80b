"""How results look in a notebook: reports, and results that hold frames."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 8  # of a table inside a result
SHOWN_TEXT = 76  # characters of a value in one line


class NotebookResult:
    """Base of results that are not frames: a short text, and tables as HTML in a notebook."""

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the result."""
        assert dataclasses.is_dataclass(self)
        for field in dataclasses.fields(self):
            yield field.name, getattr(self, field.name)

    def _title(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        """One line for each value; tables by their size and columns."""
        parts = list(self._parts())
        width = max([len(name) for name, _ in parts], default=0)
        lines = [f"  {name:<{width}}  {_line(value)}" for name, value in parts]
        return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        """Tables with their first rows; every text is escaped."""
        body = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(name)}</th>"
            f"<td style='text-align:left'>{_html(value)}</td></tr>"
            for name, value in self._parts()
        )
        return f"<table><caption><b>{escape(self._title())}</b></caption><tbody>{body}</tbody></table>"


class Document(NotebookResult, dict[str, Any]):
    """A report: a dict of plain values, ready for JSON, that shows its tables in a notebook.

    ``document.frame("items")`` is one of its tables as a frame.
    """

    def __init__(self, content: Mapping[str, Any], *, title: str = "report") -> None:
        super().__init__(content)
        self.title = title

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a plain dict, which needs no module of ours."""
        return dict, (dict(self),)

    def _parts(self) -> Iterator[tuple[str, Any]]:
        yield from self.items()

    def _title(self) -> str:
        return self.title

    @property
    def tables(self) -> list[str]:
        """Names of the tables, for :meth:`frame`."""
        return [name for name, value in self.items() if _is_table(value)]

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a table of the report; its columns are the keys that the report's docstring describes.

        Raises
        ------
        UnknownName
            If the report has no table of that name.
        """
        import pandas as pd

        from analysis.errors import UnknownName

        if not _is_table(self.get(name)):
            raise UnknownName("table", name, self.tables)
        return pd.DataFrame(self[name])


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _line(value: Any) -> str:
    """A value in one line."""
    if _is_table(value):
        text = f"{len(value)} rows: {', '.join(map(str, value[0]))}"
    elif hasattr(value, "columns") and hasattr(value, "index"):
        text = f"{len(value)} rows: {', '.join(map(str, value.columns))}"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key} {_number(part)}" for key, part in value.items() if not _is_long(part))
        text = text or ", ".join(map(str, value))
    elif isinstance(value, NotebookResult):
        text = value._title()
    else:
        text = _number(value)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_TEXT else f"{text[: SHOWN_TEXT - 1]}…"


def _is_long(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str))


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else repr(value)


def _html(value: Any) -> str:
    import pandas as pd

    if _is_table(value):
        value = pd.DataFrame(value)
    if isinstance(value, pd.Series):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame):
        table = value.head(SHOWN_ROWS).to_html(index=False, escape=True, border=0, na_rep="–")
        rest = len(value) - SHOWN_ROWS
        return table + (f"<small>and {rest:,} more rows</small>" if rest > 0 else "")
    if isinstance(value, NotebookResult):
        return value._repr_html_()
    if isinstance(value, Mapping):
        return "<br>".join(f"{escape(str(key))}: {escape(_line(part))}" for key, part in value.items())
    return escape(_number(value))
