"""BLiMP-style JSON lines: one minimal pair per line; all fields of the line are kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from experiments.materials.collection import Materials, Source, pair_frame, require_unique, sentence_frame
from experiments.materials.encoding import Encoding, read_text
from experiments.materials.markup import is_markup_column, markup_attribute
from experiments.materials.readers.sheets import json_lines
from experiments.materials.schema import ACCEPTABLE, CONTEXT, UNACCEPTABLE, context_attribute

GOOD, BAD = "sentence_good", "sentence_bad"
Line = tuple[str, int, dict[str, Any]]


def read_blimp(paths: Sequence[Path], *, encoding: Encoding = "") -> Materials:
    """Read BLiMP-style files, one paradigm or several per file.

    Notes
    -----
    ``linguistics_term`` is the phenomenon, ``UID`` the paradigm (or the file's name), ``UID:pairID``
    the pair and the item, ``UID:pairID:good`` and ``:bad`` the sentences. All fields of the line are
    kept in ``fields``. ``context``, or ``context_good`` and ``context_bad``, are the sentences' contexts.

    References
    ----------
    Warstadt et al. (2020), "BLiMP: The Benchmark of Linguistic Minimal Pairs for English", TACL 8.
    """
    lines: list[Line] = []
    sources = []
    for path in paths:
        decoded = read_text(path, encoding=encoding)
        file_lines = [
            (decoded.file, row, _check_fields(fields, decoded.file, row))
            for row, fields in json_lines(decoded)
        ]
        lines += file_lines
        columns = tuple(file_lines[0][2]) if file_lines else ()
        description = f"{decoded.description}, JSON lines"
        sources.append(Source(decoded.file, description, len(file_lines), columns, inferred=decoded.check))
    return _materials(lines, tuple(sources))


def materials_of_rows(rows: Sequence[dict[str, Any]], *, file: str) -> Materials:
    """Return rows with the fields of BLiMP as materials, as if they had been lines of a file."""
    lines = [(file, row, _check_fields(fields, file, row)) for row, fields in enumerate(rows, start=1)]
    return _materials(lines, (Source(file, "generated pairs", len(lines)),))


def _check_fields(fields: dict[str, Any], file: str, row: int) -> dict[str, Any]:
    """Refuse a line without both sentences."""
    for name in (GOOD, BAD):
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise BadInput("a pair needs both sentences.", file=file, row=row, column=name)
    return fields


def _names(line: Line) -> tuple[str, str]:
    """Return the names of a line's paradigm and pair."""
    file, row, fields = line
    stem = file.removesuffix(".gz").removesuffix(".jsonl")
    paradigm = str(fields.get("UID") or stem)
    return paradigm, f"{paradigm}:{fields.get('pairID', row)}"


def _materials(lines: list[Line], sources: tuple[Source, ...]) -> Materials:
    names = [_names(line) for line in lines]
    paradigms = [paradigm for paradigm, _ in names]
    pair_ids = [pair_id for _, pair_id in names]
    phenomena = [str(fields.get("linguistics_term") or "") for _, _, fields in lines]
    files, rows = [file for file, _, _ in lines], [row for _, row, _ in lines]
    pairs = pair_frame(
        pair_id=pair_ids,
        item=pair_ids,
        paradigm=paradigms,
        phenomenon=phenomena,
        good_id=[f"{pair_id}:good" for pair_id in pair_ids],
        bad_id=[f"{pair_id}:bad" for pair_id in pair_ids],
        fields=[fields for _, _, fields in lines],
        file=files,
        row=rows,
    )
    require_unique(pairs, "pair_id")
    members = ("good", GOOD, ACCEPTABLE), ("bad", BAD, UNACCEPTABLE)
    has_markup = any(map(is_markup_column, {name for _, _, fields in lines for name in fields}))
    markup = [markup_attribute(fields) if has_markup else {} for _, _, fields in lines]
    sentences = sentence_frame(
        sentence_id=[f"{pair_id}:{short}" for pair_id in pair_ids for short, _, _ in members],
        item=_twice(pair_ids),
        condition=["good", "bad"] * len(lines),
        paradigm=_twice(paradigms),
        phenomenon=_twice(phenomena),
        text=[fields[name] for _, _, fields in lines for _, name, _ in members],
        expected=[ACCEPTABLE, UNACCEPTABLE] * len(lines),
        critical_region=[str(fields.get("crucial_item") or "") for _, _, fields in lines for _ in members],
        attributes=[
            attributes | context_attribute(fields.get(f"{CONTEXT}_{short}"), fields.get(CONTEXT))
            for attributes, (_, _, fields) in zip(markup, lines, strict=True)
            for short, _, _ in members
        ],
        file=_twice(files),
        row=_twice(rows),
    )
    return Materials("blimp", sentences, pairs, sources)


def _twice(values: Sequence[Any]) -> list[Any]:
    return [value for value in values for _ in range(2)]
