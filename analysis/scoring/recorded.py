"""What stands beside a file of scores about how they came about, for the foot of a table."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

RECORD = ".spec.json"
SAID = ("method", "bos", "eos", "tokens", "casing", "punctuation", "dtype")
LONG = 40


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
        ``file`` (its name), ``model``, ``columns``, ``spec_id``, ``spec``, ``tokens``, ``unknown_tokens`` and
        ``flags`` as they were recorded; ``file`` alone where nothing was.
    """
    found = []
    for path in map(Path, paths):
        said: dict[str, Any] = {}
        try:
            said = json.loads(path.with_suffix(RECORD).read_text(encoding="utf-8"))
            is_its_own = bool(said["columns"]) and set(said["columns"]) <= set(columns)
        except (OSError, ValueError, KeyError, TypeError):
            is_its_own = False
        names = ("model", "columns", "spec_id", "spec", "tokens", "unknown_tokens", "flags")
        found.append({"file": path.name} | ({name: said.get(name) for name in names} if is_its_own else {}))
    return found


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
    spec = record.get("spec")
    if not spec:
        return f"Scores of {record['file']}: nothing is recorded about how they were made."
    options = {**{name: spec.get(name) for name in SAID}, **(spec.get("options") or {})}
    parts = [f"{name} {_short(value)}" for name, value in options.items() if value not in ("", None)]
    tokens = record.get("tokens") or 0
    if tokens and record.get("unknown_tokens"):
        parts.append(f"{record['unknown_tokens'] / tokens:.1%} of tokens unknown")
    parts += [f"{n} sentences {name}" for name, n in (record.get("flags") or {}).items()]
    return f"Scores of {record['model']}: {spec['uri']}, {_short(spec['revision'])}; {', '.join(parts)}."


def _short(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    kind, colon, digest = text.rpartition(":")
    return f"{kind}{colon}{digest[:12]}" if len(text) >= LONG else text
