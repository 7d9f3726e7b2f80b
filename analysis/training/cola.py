"""Sentences with acceptability labels in the format of CoLA, and the evaluation of predicted labels."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison.criteria import matthews_correlation
from ..errors import BadInput, MissingColumns, NotEnoughData
from ..files import read_table

SHARE, MIN_SENTENCES = 0.1, 4  # of the development set; of each label


@dataclass(frozen=True)
class Labelled:
    """Sentences and their labels: 1 acceptable, 0 not."""

    sentences: list[str]
    labels: list[int]

    def split(self, *, share: float = SHARE, seed: int = 0) -> tuple["Labelled", "Labelled"]:
        """Draw a stratified development set; equal sentences stay together.

        Examples
        --------
        >>> whole = Labelled(list("abcdefgh"), [0, 1] * 4)
        >>> train, development = whole.split(share=0.25)
        >>> len(train.sentences), sorted(development.labels)
        (6, [0, 1])
        """
        rng = np.random.default_rng([seed, 17])
        development: set[str] = set()
        for label in (0, 1):
            pairs = zip(self.sentences, self.labels, strict=True)
            distinct = list(dict.fromkeys(sentence for sentence, value in pairs if value == label))
            if len(distinct) < MIN_SENTENCES:
                raise NotEnoughData(
                    f"{len(distinct)} distinct sentences have the label {label}.",
                    remedy=f"Give at least {MIN_SENTENCES} of each, or a development file.",
                )
            chosen = rng.choice(len(distinct), size=max(1, round(share * len(distinct))), replace=False)
            development.update(distinct[index] for index in chosen.tolist())
        return self._where(development, is_in=False), self._where(development, is_in=True)

    def _where(self, chosen: set[str], *, is_in: bool) -> "Labelled":
        rows = [row for row in zip(self.sentences, self.labels, strict=True) if (row[0] in chosen) == is_in]
        return Labelled([sentence for sentence, _ in rows], [label for _, label in rows])


def read_cola(path: str | Path) -> Labelled:
    """Read a file of labelled sentences."""
    path = Path(path)
    if path.is_file() and path.suffix.lower() == ".tsv" and not _has_head(path):
        rows = _plain_rows(path)
    else:
        table = read_table(path)
        missing = [name for name in ("label", "sentence") if name not in table.columns]
        if missing:
            raise MissingColumns(missing, existing=[str(name) for name in table.columns], file=str(path))
        values = zip(table.index, table["label"], table["sentence"], strict=True)
        rows = [(int(line), str(label).strip(), sentence) for line, label, sentence in values]
    for line, label, sentence in rows:
        if label not in ("0", "1"):
            raise BadInput(
                f"the label is {label!r}.",
                file=str(path),
                row=line,
                column="label",
                remedy="Write 1 for acceptable, 0 for not.",
            )
        if not isinstance(sentence, str) or not sentence.strip():
            raise BadInput("there is no sentence.", file=str(path), row=line, column="sentence")
    if not rows:
        raise BadInput("the file is empty.", file=str(path))
    return Labelled([str(sentence).strip() for _, _, sentence in rows], [int(label) for _, label, _ in rows])


def evaluate(labels: Sequence[int], predictions: Sequence[int]) -> dict[str, Any]:
    """Return MCC with its status, accuracy and the number of sentences."""
    matthews = matthews_correlation(labels, predictions)
    accuracy = float(np.mean(np.asarray(labels) == np.asarray(predictions)))
    return {"mcc": matthews.mcc or 0.0, "status": matthews.status, "accuracy": accuracy, "n": matthews.n}


def _has_head(path: Path) -> bool:
    with path.open("rb") as text:
        first = text.readline().decode("utf-8-sig", errors="replace").strip().lower().split("\t")
    return "label" in first and "sentence" in first


def _plain_rows(path: Path) -> list[tuple[int, str, str]]:
    rows: list[tuple[int, str, str]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            # CoLA quotes nothing: a quotation mark is part of the sentence.
            for number, cells in enumerate(csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if not cells:
                    continue
                if len(cells) != 4:
                    raise BadInput(
                        f"the row has {len(cells)} cells.",
                        file=str(path),
                        row=number,
                        remedy="CoLA has four: source, label, the author's mark, sentence.",
                    )
                rows.append((number, cells[1].strip(), cells[3]))
    except UnicodeDecodeError as error:
        raise BadInput("the text is not UTF-8.", file=str(path), remedy="Save it as UTF-8.") from error
    return rows
