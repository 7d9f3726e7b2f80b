"""BLiMP-style JSONL: a minimal pair per line, all of its fields kept."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from experiments.materials.collection import Materials, Source, pair_frame, require_unique, sentence_frame
from experiments.materials.encoding import Decoded, read_text
from experiments.materials.markup import COLUMN, said
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE

GOOD, BAD = "sentence_good", "sentence_bad"
Line = tuple[str, int, dict[str, Any]]


def read_blimp(paths: Sequence[Path], *, encoding: str = "") -> Materials:
    """Read BLiMP-style files, one paradigm or several per file.

    Parameters
    ----------
    paths : sequence of Path
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    Materials
        ``linguistics_term`` is the phenomenon, ``UID`` the paradigm (or the file's name), ``UID:pairID``
        the pair and the item, ``UID:pairID:good`` and ``:bad`` the sentences. Every field of the line is
        kept in ``fields``.

    Raises
    ------
    BadInput
        For a line that is not a JSON object, a pair with one member, or a pair given twice.

    References
    ----------
    Warstadt et al. (2020), "BLiMP: The Benchmark of Linguistic Minimal Pairs for English", TACL 8.
    """
    lines: list[Line] = []
    sources = []
    for path in paths:
        decoded = read_text(path, encoding=encoding)
        found = [(decoded.file, row, _pair(fields, decoded.file, row)) for row, fields in json_lines(decoded)]
        lines += found
        columns = tuple(found[0][2]) if found else ()
        sources.append(Source(decoded.file, f"{decoded.description}, JSON lines", len(found), columns))
    return _assembled(lines, tuple(sources))


def json_lines(decoded: Decoded) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a JSON lines text.

    Parameters
    ----------
    decoded : Decoded

    Yields
    ------
    tuple of (int, dict)
        The line, from 1, and its object; empty lines are passed over.

    Raises
    ------
    BadInput
        Naming file and line where a line is not a JSON object.
    """
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    for row, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line, parse_constant=_refuse_constant)
            if "\\u" in line:
                json.dumps(fields, ensure_ascii=False).encode("utf-8")
        except json.JSONDecodeError as error:
            message = f"not JSON at character {error.pos + 1} ({error.msg})."
            raise BadInput(message, file=decoded.file, row=row) from None
        except UnicodeEncodeError:
            raise BadInput("half of a surrogate pair is no character.", file=decoded.file, row=row) from None
        except _NotFinite as error:
            message = f"{error} is not a number that can be kept."
            raise BadInput(message, file=decoded.file, row=row, remedy="Write null.") from None
        if not isinstance(fields, dict) or "\\u0000" in line:
            wrong = "a NUL character" if isinstance(fields, dict) else "no JSON object"
            remedy = 'Write {"name": value, …}.'
            raise BadInput(f"the line holds {wrong}.", file=decoded.file, row=row, remedy=remedy)
        yield row, fields


class _NotFinite(ValueError):
    """NaN or an infinity in JSON."""


def _refuse_constant(name: str) -> float:
    raise _NotFinite(name)


def _pair(fields: dict[str, Any], file: str, row: int) -> dict[str, Any]:
    for name in (GOOD, BAD):
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise BadInput("a pair needs both members.", file=file, row=row, column=name)
    return fields


def _names(line: Line) -> tuple[str, str]:
    file, row, fields = line
    stem = file.removesuffix(".gz").removesuffix(".jsonl")
    paradigm = str(fields.get("UID") or stem)
    return paradigm, f"{paradigm}:{fields.get('pairID', row)}"


def _assembled(lines: list[Line], sources: tuple[Source, ...]) -> Materials:
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
    markup = [{COLUMN: said(fields)} if said(fields) else {} for _, _, fields in lines]
    sentences = sentence_frame(
        sentence_id=[f"{pair_id}:{short}" for pair_id in pair_ids for short, _, _ in members],
        item=_twice(pair_ids),
        condition=["good", "bad"] * len(lines),
        paradigm=_twice(paradigms),
        phenomenon=_twice(phenomena),
        text=[fields[name] for _, _, fields in lines for _, name, _ in members],
        expected=[ACCEPTABLE, UNACCEPTABLE] * len(lines),
        critical_region=[str(fields.get("crucial_item") or "") for _, _, fields in lines for _ in members],
        attributes=[dict(one) for one in markup for _ in members],
        file=_twice(files),
        row=_twice(rows),
    )
    return Materials("blimp", sentences, pairs, sources)


def _twice(values: Sequence[Any]) -> list[Any]:
    return [value for value in values for _ in range(2)]
