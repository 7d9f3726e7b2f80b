"""What stands beside a file of scores about how they came about, for the foot of a table."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.scoring.conventions import conventions_text, scoring_conventions

RECORD = ".spec.json"
COUNTED = ".counts.parquet"
SOURCE = ("spec_id", "spec", "tokens", "unknown_tokens", "flags")
KEPT = ("model", "columns", "spec_id", "spec", "tokens", "unknown_tokens", "flags", "source")


def recorded_specs(paths: Sequence[str | Path], *, columns: Collection[str]) -> list[dict[str, Any]]:
    """Read the records beside files of scores.

    Parameters
    ----------
    paths : sequence of str or Path
        Files of scores; of ``gpt2.csv`` the record is ``gpt2.spec.json``.
    columns : collection of str
        The models of these files. A record of other columns is an older file's, and counts as none.

    Returns
    -------
    list of dict, one per file
        ``file`` (its name); ``model``, ``columns``, ``spec_id``, ``spec``, ``tokens``, ``unknown_tokens``,
        ``flags`` and ``source`` as they were recorded, where something was; and ``conventions``, each in
        words.

    See Also
    --------
    analysis.scoring.conventions.scoring_conventions
    """
    found = []
    for path in map(Path, paths):
        said = _said(path.with_suffix(RECORD))
        is_its_own = bool(said.get("columns")) and set(said["columns"]) <= set(columns)
        record = {"file": path.name} | ({name: said.get(name) for name in KEPT} if is_its_own else {})
        found.append(record | {"conventions": scoring_conventions(record)})
    return found


def source_of(path: str | Path, *, column: str, n_sentences: int) -> dict[str, Any] | None:
    """Find out how the numbers of a table were made, where ``manage.py score`` wrote it.

    Parameters
    ----------
    path : str or Path
        A file of scores, or the counts that measures are made of.
    column : str
        The column that is read.
    n_sentences : int
        Its sentences; a record of another number is not this table's.

    Returns
    -------
    dict or None
        Of the record beside it: ``spec_id``, ``spec``, ``tokens``, ``unknown_tokens`` and ``flags``.
    """
    place = Path(path)
    is_counts = place.name.endswith(COUNTED)
    stem = place.name.removesuffix(COUNTED) if is_counts else place.stem
    said = _said(place.with_name(stem + RECORD))
    is_its_own = said.get("sentences") == n_sentences and (is_counts or column in said.get("columns", ()))
    if not is_its_own:
        return None
    return {name: said.get(name) for name in SOURCE} | (said.get("source") or {})


def _said(path: Path) -> dict[str, Any]:
    """A record as it stands there; empty where there is none."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) and isinstance(said.get("columns"), list) else {}


def recorded_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Say each record in a line: the model, its very revision, every convention of its specification.

    Parameters
    ----------
    records : sequence of mapping
        From :func:`recorded_specs`.

    Returns
    -------
    str
        A line for each file, without an end of line at the last.
    """
    return "\n".join(_line(record) for record in records)


def _line(record: Mapping[str, Any]) -> str:
    if not record.get("spec"):
        name = record.get("file") or record["model"]
        return f"Scores of {name}: nothing is recorded about how they were made."
    return f"Scores of {record['model']}: {conventions_text(record['conventions'])}."
