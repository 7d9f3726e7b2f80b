"""One door to all readers: a format's name and a path give a :class:`JudgmentFile`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from analysis.errors import BadInput, UnknownName
from judgments.sources.base import JudgmentFile, SourceOptions
from judgments.sources.jspsych import read_jspsych
from judgments.sources.mturk_batch import read_mturk_batch
from judgments.sources.pcibex import read_pcibex
from judgments.sources.table import read_judgment_table
from judgments.sources.table_fields import TABLE_FIELDS

Reader = Callable[[Path, SourceOptions], JudgmentFile]

READERS: Mapping[str, Reader] = {
    "mturk-batch": read_mturk_batch,
    "table": read_judgment_table,
    "pcibex": read_pcibex,
    "jspsych": read_jspsych,
}


def read_judgments(path: Path, format: str, *, options: SourceOptions | None = None) -> JudgmentFile:
    """Read a file of judgments.

    Parameters
    ----------
    path : Path
    format : str
        ``mturk-batch``, ``table``, ``pcibex`` or ``jspsych``.
    options : SourceOptions, optional

    Returns
    -------
    JudgmentFile

    Raises
    ------
    UnknownName
        If there is no such format.
    BadInput
        If the file does not fit; file, row and column are named.
    """
    if format not in READERS:
        raise UnknownName("format", format, list(READERS))
    return READERS[format](path, options or SourceOptions())


def parse_judgment_mapping(pairs: list[str]) -> dict[str, str]:
    """Read ``our_column=their_column`` pairs of ``--map``.

    Parameters
    ----------
    pairs : list of str
        Their side may join several columns with ``+``; our side ``background.NAME`` keeps a column with the
        participant.

    Returns
    -------
    dict of str to str

    Raises
    ------
    BadInput
        If a pair has no equals sign, or our side is not a column of the table.

    Examples
    --------
    >>> parse_judgment_mapping(["value=rating", "item=verb+frame"])
    {'value': 'rating', 'item': 'verb+frame'}
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        ours, sign, theirs = (part.strip() for part in pair.partition("="))
        if not sign:
            raise BadInput(f"{pair!r} is not a mapping.", remedy="Write our_column=their_column.")
        if ours not in TABLE_FIELDS and not ours.startswith("background."):
            raise UnknownName("column", ours, list(TABLE_FIELDS))
        mapping[ours] = theirs
    return mapping
