"""The result of every reader: a frame of sentences, a frame of pairs, and their sources."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.encoding import InferredEncoding
from experiments.materials.findings import Finding

#: Columns of ``Materials.sentences``; ``row`` is the line of ``file``.
SENTENCE_COLUMNS = (
    "sentence_id",
    "item",
    "condition",
    "paradigm",
    "phenomenon",
    "text",
    "expected",
    "mark",
    "critical_region",
    "language",
    "attributes",
    "factors",
    "is_filler",
    "file",
    "row",
)
#: Columns of ``Materials.pairs``.
PAIR_COLUMNS = (
    "pair_id",
    "item",
    "paradigm",
    "phenomenon",
    "good_id",
    "bad_id",
    "fields",
    "discard",
    "discard_reason",
    "file",
    "row",
)


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes
    ----------
    file : str
    description : str
        Encoding, line ends and delimiter, for messages.
    rows : int
    columns : tuple of str
    notes : tuple of str
    inferred : InferredEncoding or None
        What to check where the encoding was inferred.
    """

    file: str
    description: str
    rows: int
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    inferred: InferredEncoding | None = None


@dataclass(frozen=True)
class Materials:
    """Sentences and pairs of a material set, independent of the file format.

    Attributes
    ----------
    format : str
        ``blimp``, ``table``, ``climp``, ``li-adger`` or ``syntaxgym``.
    sentences : DataFrame
        :data:`SENTENCE_COLUMNS`; ``text`` exactly as given; ``expected`` is ``acceptable``,
        ``unacceptable`` or ``""``; ``factors`` is the level of each factor.
    pairs : DataFrame
        :data:`PAIR_COLUMNS`; ``fields`` holds the source line's own fields.
    sources : tuple of Source
    mapping : dict of str to str
        Field → the file's column, as recognized.
    findings : tuple of Finding
        Findings of the reader.
    factors : dict of str to tuple of str
        Factor of the design → its levels in the researcher's order; empty without a factorial design.
    """

    format: str
    sentences: pd.DataFrame
    pairs: pd.DataFrame
    sources: tuple[Source, ...] = ()
    mapping: Mapping[str, str] | None = None
    findings: tuple[Finding, ...] = ()
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the content, which does not depend on the encoding of the files."""
        digest = hashlib.sha256()
        left_out = {"file", "row"}
        # sets without them keep the checksum that they had before these columns existed
        if not self.factors:
            left_out.add("factors")
        if not self.sentences["is_filler"].any():
            left_out.add("is_filler")
        encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode
        for frame in (self.sentences, self.pairs):
            names = [name for name in frame.columns if name not in left_out]
            rows = _content(frame, names)
            while text := "".join(map(encode, islice(rows, ROWS_AT_ONCE))):
                digest.update(text.encode("utf-8", "surrogatepass"))
        if self.factors:
            digest.update(json.dumps(list(self.factors.items()), ensure_ascii=False).encode("utf-8"))
        return digest.hexdigest()

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of rows and groups; fillers are no items, ``pairs_left`` excludes discarded pairs."""
        discarded = int(self.pairs["discard"].sum())
        is_filler = self.sentences["is_filler"].astype(bool)
        return {
            "sentences": len(self.sentences),
            "items": int(self.sentences["item"][~is_filler].nunique()),
            "fillers": int(is_filler.sum()),
            "paradigms": len(set(self.sentences["paradigm"]) - {""}),
            "phenomena": len(set(self.sentences["phenomenon"]) - {""}),
            "pairs": len(self.pairs),
            "pairs_discarded": discarded,
            "pairs_left": len(self.pairs) - discarded,
        }


ROWS_AT_ONCE = 1_000  # of the text that the checksum digests


def _content(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(frame[name].tolist() for name in names), strict=True)


def sentence_frame(**columns: Sequence[Any] | str) -> pd.DataFrame:
    """Return a frame of sentences; columns that are not given are empty."""
    filled = {"is_filler": False, **columns}
    return _frame(SENTENCE_COLUMNS, ("attributes", "factors"), filled).astype({"is_filler": bool})


def pair_frame(**columns: Sequence[Any] | str) -> pd.DataFrame:
    """Return a frame of pairs; columns that are not given are empty."""
    return _frame(PAIR_COLUMNS, ("fields",), {"discard": False, **columns}).astype({"discard": bool})


def _frame(names: Sequence[str], dict_columns: Sequence[str], columns: Mapping[str, Any]) -> pd.DataFrame:
    length = max((len(values) for values in columns.values() if isinstance(values, list)), default=0)
    filled: dict[str, Any] = {}
    for name in names:
        values = columns.get(name, [{} for _ in range(length)] if name in dict_columns else "")
        filled[name] = values if isinstance(values, list) else [values] * length
    return pd.DataFrame(filled, columns=list(names), dtype=object)


def require_unique(frame: pd.DataFrame, column: str) -> None:
    """Refuse an id that two rows share."""
    duplicates = frame[frame[column].duplicated()]
    if len(duplicates):
        second = duplicates.iloc[0]
        first = frame[frame[column] == second[column]].iloc[0]
        raise BadInput(
            f"{second[column]!r} is already used in {first['file']}, row {first['row']}.",
            file=str(second["file"]),
            row=int(second["row"]),
            column=column,
            remedy="Give every row an id of its own.",
        )
