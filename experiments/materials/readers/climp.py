"""CLiMP's CSV files: a sentence per row, good and bad alternating, with a label or (one file) without."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.collection import Materials, Source, pair_frame, require_unique, sentence_frame
from experiments.materials.delimited import Table, read_table
from experiments.materials.encoding import Encoding
from experiments.materials.findings import Finding
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE, expected_status

LABELLED = ["unnamed_1", "0", "1", "2", "3"]
UNLABELLED = ["unnamed_1", "0"]


def read_climp(paths: Sequence[Path], *, encoding: Encoding = "") -> Materials:
    """Read CLiMP-style files; rows 2k and 2k + 1 are a pair.

    Notes
    -----
    Labelled files have an index and the columns 0 = phenomenon, 1 = paradigm, 2 = sentence, 3 = label.
    A file with the sentence as its index and nothing else is unlabelled: its paradigm is the file's
    name without the number at its end, and the first row of each pair is the good one. Pairs are
    ``paradigm:k``, ``k`` from 0.

    References
    ----------
    Xiang, Yang, Li, Warstadt & Kann (2021), "CLiMP: A Benchmark for Chinese Language Model Evaluation", EACL.
    """
    parts, sources, findings = [], [], []
    for path in paths:
        table = read_table(path, encoding=encoding)
        part = _sentences(table)
        _require_alternation(part)
        if list(table.frame.columns) == UNLABELLED:
            message = "no label in the file; the first row of each pair is taken as the acceptable one."
            findings.append(Finding("note", "unlabelled", message, file=table.source.file))
        # The published files end in empty rows without all of their cells.
        notes = tuple(note for note in table.notes if not note.startswith("rows shorter"))
        sources.append(
            Source(
                table.source.file,
                table.description,
                len(part),
                tuple(table.frame.columns),
                notes,
                table.source.check,
            )
        )
        parts.append(part)
    rows = pd.concat(parts, ignore_index=True)
    return _materials(rows, tuple(sources), tuple(findings))


def _sentences(table: Table) -> pd.DataFrame:
    """Return a row per sentence: paradigm, phenomenon, text, expected, file, row."""
    frame, file = table.frame, table.source.file
    columns = [str(column) for column in frame.columns]
    if columns == UNLABELLED:
        paradigm = re.sub(r"_\d+$", "", file.removesuffix(".csv"))
        label = pd.Series(["1", "0"] * ((len(frame) + 1) // 2))[: len(frame)].to_numpy()
        values = {"phenomenon": "", "paradigm": paradigm, "text": frame["unnamed_1"], "label": label}
    elif columns == LABELLED:
        values = {"phenomenon": frame["0"], "paradigm": frame["1"], "text": frame["2"], "label": frame["3"]}
    else:
        raise MissingColumns(["0", "1", "2", "3"], existing=columns, file=file)
    part = pd.DataFrame(values, index=frame.index, dtype=object)
    part["expected"] = part["label"].map(expected_status)
    return part.assign(file=file, row=frame.index).reset_index(drop=True)


def _require_alternation(part: pd.DataFrame) -> None:
    """Refuse rows that do not form pairs of one acceptable and one unacceptable sentence."""
    file = str(part["file"].iloc[0]) if len(part) else ""
    if len(part) % 2:
        raise BadInput(
            "the last pair has only one sentence.", file=file, row=int(part["row"].iloc[-1]), column="2"
        )
    for fits, column, message in (
        (part["expected"].isin([ACCEPTABLE, UNACCEPTABLE]), "3", "the label is neither 1 nor 0."),
        (part["text"].str.strip() != "", "2", "the sentence is empty."),
    ):
        if not fits.all():
            raise BadInput(message, file=file, row=int(part["row"][~fits].iloc[0]), column=column)
    first_rows, second_rows = part.iloc[0::2], part.iloc[1::2]
    for name, column, must_differ in (("expected", "3", True), ("paradigm", "1", False)):
        same = first_rows[name].to_numpy() == second_rows[name].to_numpy()
        wrong_pairs = second_rows[same if must_differ else ~same]
        if len(wrong_pairs):
            row = int(wrong_pairs["row"].iloc[0])
            reason = "both have the same label" if must_differ else "their paradigms differ"
            message = f"this row and the one before it are not a pair: {reason}."
            raise BadInput(message, file=file, row=row, column=column)


def _materials(rows: pd.DataFrame, sources: tuple[Source, ...], findings: tuple[Finding, ...]) -> Materials:
    number = rows.groupby(["file", "paradigm"]).cumcount() // 2
    rows = rows.assign(
        item=rows["paradigm"] + ":" + number.astype(str),
        condition=rows["expected"].map({ACCEPTABLE: "good", UNACCEPTABLE: "bad"}),
    )
    rows["sentence_id"] = rows["item"] + ":" + rows["condition"]
    sentences = sentence_frame(
        **{
            name: rows[name].tolist()
            for name in (
                "sentence_id",
                "item",
                "condition",
                "paradigm",
                "phenomenon",
                "text",
                "expected",
                "file",
                "row",
            )
        }
    )
    require_unique(sentences, "sentence_id")
    good = rows[rows["expected"] == ACCEPTABLE]
    pairs = pair_frame(
        pair_id=good["item"].tolist(),
        good_id=(good["item"] + ":good").tolist(),
        bad_id=(good["item"] + ":bad").tolist(),
        **{name: good[name].tolist() for name in ("item", "paradigm", "phenomenon", "file", "row")},
    )
    return Materials("climp", sentences, pairs, sources, findings=findings)
