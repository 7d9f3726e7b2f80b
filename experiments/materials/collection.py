"""The one result of every reader: a frame of sentences, a frame of pairs, and where they came from."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.report import Finding

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
        Encoding, line ends and delimiter in words.
    rows : int
    columns : tuple of str
    notes : tuple of str
    """

    file: str
    description: str
    rows: int
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Materials:
    """Sentences and pairs in one form, whatever their file's form.

    Attributes
    ----------
    format : str
        ``blimp``, ``table``, ``climp`` or ``li-adger``.
    sentences : DataFrame
        :data:`SENTENCE_COLUMNS`; ``text`` exactly as given; ``expected`` is ``acceptable``,
        ``unacceptable`` or ``""``.
    pairs : DataFrame
        :data:`PAIR_COLUMNS`; ``fields`` holds the source line's own fields.
    sources : tuple of Source
    mapping : dict of str to str
        Our column → the file's column, as understood.
    findings : tuple of Finding
        What was seen while reading.
    """

    format: str
    sentences: pd.DataFrame
    pairs: pd.DataFrame
    sources: tuple[Source, ...] = ()
    mapping: Mapping[str, str] | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def checksum(self) -> str:
        """SHA-256 of the content: the same sentences and pairs from another encoding have the same one."""
        digest = hashlib.sha256()
        for frame in (self.sentences, self.pairs):
            names = [name for name in frame.columns if name not in ("file", "row")]
            for values in _content(frame, names):
                line = json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
                digest.update(line.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @property
    def counts(self) -> dict[str, int]:
        """How many of each there are; ``pairs_left`` leaves out those marked for discarding."""
        discarded = int(self.pairs["discard"].sum())
        return {
            "sentences": len(self.sentences),
            "items": int(self.sentences["item"].nunique()),
            "paradigms": len(set(self.sentences["paradigm"]) - {""}),
            "phenomena": len(set(self.sentences["phenomenon"]) - {""}),
            "pairs": len(self.pairs),
            "pairs_discarded": discarded,
            "pairs_left": len(self.pairs) - discarded,
        }


def _content(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(frame[name].tolist() for name in names), strict=True)


def sentence_frame(**columns: Sequence[Any] | str) -> pd.DataFrame:
    """Make a frame of sentences.

    Parameters
    ----------
    **columns
        Values by name from :data:`SENTENCE_COLUMNS`; ``""`` stands where one is not given, ``{}`` for
        ``attributes``.

    Returns
    -------
    DataFrame
    """
    return _frame(SENTENCE_COLUMNS, "attributes", columns)


def pair_frame(**columns: Sequence[Any] | str) -> pd.DataFrame:
    """Make a frame of pairs; see :func:`sentence_frame`.

    Parameters
    ----------
    **columns
        Values by name from :data:`PAIR_COLUMNS`; pairs are not discarded where ``discard`` is not given.

    Returns
    -------
    DataFrame
    """
    return _frame(PAIR_COLUMNS, "fields", {"discard": False, **columns}).astype({"discard": bool})


def _frame(names: Sequence[str], of_dicts: str, columns: Mapping[str, Any]) -> pd.DataFrame:
    length = max((len(values) for values in columns.values() if isinstance(values, list)), default=0)
    filled: dict[str, Any] = {}
    for name in names:
        values = columns.get(name, [{} for _ in range(length)] if name == of_dicts else "")
        filled[name] = values if isinstance(values, list) else [values] * length
    return pd.DataFrame(filled, columns=list(names), dtype=object)


def require_unique(frame: pd.DataFrame, column: str) -> None:
    """Refuse an id that stands in two rows.

    Parameters
    ----------
    frame : DataFrame
        Needs the column, ``file`` and ``row``.
    column : str

    Raises
    ------
    BadInput
        Naming file, row and column of the second one.
    """
    again = frame[frame[column].duplicated()]
    if len(again):
        second = again.iloc[0]
        first = frame[frame[column] == second[column]].iloc[0]
        raise BadInput(
            f"{second[column]!r} stands already in {first['file']}, row {first['row']}.",
            file=str(second["file"]),
            row=int(second["row"]),
            column=column,
            remedy="Give every row an id of its own.",
        )
