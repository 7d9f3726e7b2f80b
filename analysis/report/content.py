"""What a report is made of: sections of plain blocks, for any form of page."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str
    kind: str = "paragraph"


@dataclass(frozen=True)
class Subheading:
    """A heading within a section."""

    text: str
    kind: str = "subheading"


@dataclass(frozen=True)
class Ready:
    """Text to paste into a paper."""

    paragraphs: Sequence[str]
    kind: str = "ready"


@dataclass(frozen=True)
class Facts:
    """Names and what they are."""

    rows: Sequence[tuple[str, str]]
    kind: str = "facts"


@dataclass(frozen=True)
class Headline:
    """The few large numbers of a report: name, number, what it is of."""

    rows: Sequence[tuple[str, str, str]]
    kind: str = "headline"


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first column names the rows, the others are numbers unless listed."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: frozenset[int] = frozenset()
    """Columns of words beside the first."""
    note: str = ""
    kind: str = "table"

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Each column's heading, and whether it holds numbers."""
        return [(word, place > 0 and place not in self.texts) for place, word in enumerate(self.head)]

    @property
    def cells(self) -> list[list[tuple[str, bool]]]:
        """Each row's cells, and whether each is a number."""
        numeric = [is_number for _, is_number in self.columns]
        return [list(zip(row, numeric, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A drawing under its name in the registry, with the words that stand in for it."""

    name: str
    title: str
    shows: str
    kind: str = "figure"


@dataclass(frozen=True)
class References:
    """Works cited."""

    works: Sequence[str]
    kind: str = "references"


Block = Paragraph | Subheading | Ready | Facts | Headline | Table | Figure | References


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    key: str
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
