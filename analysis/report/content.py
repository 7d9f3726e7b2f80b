"""Content blocks and sections of a report, independent of the output format."""

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
    """A list of labels with their values."""

    rows: Sequence[tuple[str, str]]
    kind: str = "facts"


@dataclass(frozen=True)
class Headline:
    """Headline figures of a report: label, value, and what the value refers to."""

    rows: Sequence[tuple[str, str, str]]
    kind: str = "headline"


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first column holds row labels, the others numbers unless in ``texts``."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: frozenset[int] = frozenset()
    """Indices of further text columns."""
    note: str = ""
    kind: str = "table"

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Heading of each column and whether the column is numeric."""
        return [(word, place > 0 and place not in self.texts) for place, word in enumerate(self.head)]

    @property
    def cells(self) -> list[list[tuple[str, bool]]]:
        """Cells of each row, each with a flag for numeric columns."""
        numeric = [is_number for _, is_number in self.columns]
        return [list(zip(row, numeric, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A figure: registry name, title and text alternative; a long one has several parts."""

    name: str
    title: str
    shows: str
    part: int = 0
    """Number of the part; 0 for a whole figure."""
    kind: str = "figure"

    @property
    def key(self) -> str:
        """Name of the drawing."""
        return f"{self.name}-{self.part}" if self.part else self.name


@dataclass(frozen=True)
class References:
    """Works cited."""

    works: Sequence[str]
    kind: str = "references"


Block = Paragraph | Subheading | Ready | Facts | Headline | Table | Figure | References


@dataclass(frozen=True)
class Section:
    """A heading and its content blocks."""

    key: str
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
