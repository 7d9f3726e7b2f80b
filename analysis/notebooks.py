"""Display of results in a notebook: reports, and results that hold frames."""

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
        """Single values, then each table with its first rows; every text is escaped."""
        facts, blocks, empty = [], [], []
        for name, value in self._parts():
            if _is_empty(value):
                empty.append(escape(name))
            elif (block := _html(value)) is not None:
                is_open = "" if _has_prose(value) else " open"
                blocks.append(f"<details{is_open}><summary><b>{escape(name)}</b></summary>{block}</details>")
            else:
                facts.append(f"{escape(name)} <b>{escape(_line(value))}</b>")
        parts = [f"<b>{escape(self._title())}</b>", " · ".join(facts), *blocks]
        parts += [f"<small>empty: {', '.join(empty)}</small>"] if empty else []
        return "".join(f"<div>{part}</div>" for part in parts if part)


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
        """Return a table of the report; its columns are the keys that the report's docstring describes."""
        import pandas as pd

        from .errors import UnknownName

        if not _is_table(self.get(name)):
            raise UnknownName("table", name, self.tables)
        return pd.DataFrame(self[name])


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _line(value: Any) -> str:
    """A value in one line."""
    if _is_table(value):
        text = f"{len(value)} rows: {', '.join(map(str, value[0]))}"
    elif _is_frame(value):
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


def _is_frame(value: Any) -> bool:
    """Whether it is a table of pandas, without loading pandas."""
    return hasattr(value, "columns") and hasattr(value, "index")


def _is_empty(value: Any) -> bool:
    return value is None or (hasattr(value, "__len__") and len(value) == 0)


def _has_prose(value: Any) -> bool:
    """Whether it is a mapping of sentences, such as conventions."""
    return isinstance(value, Mapping) and any(
        isinstance(part, str) and " " in part for part in value.values()
    )


def _html(value: Any) -> str | None:
    """A value as a block; None for what fits a line."""
    import pandas as pd

    if isinstance(value, pd.Series):
        value = value.to_frame()
    if _is_table(value) or _is_frame(value):
        frame = pd.DataFrame(value)
        rows = frame.head(SHOWN_ROWS).to_html(index=False, escape=True, border=0, na_rep="–")
        rest = len(frame) - SHOWN_ROWS
        more = f"<small>and {rest:,} more rows</small>" if rest > 0 else ""
        return f"<div style='overflow-x:auto'>{rows}</div>{more}"  # wide tables scroll by themselves
    if isinstance(value, NotebookResult):
        return value._repr_html_()
    if isinstance(value, Mapping):
        return " · ".join(f"{escape(str(key))} <b>{escape(_line(part))}</b>" for key, part in value.items())
    return None
