"""Read sentences with acceptability labels in the form of CoLA."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadInput, MissingColumns, NotEnoughData
from analysis.files import read_table

SHARE, FEWEST = 0.1, 4


@dataclass(frozen=True)
class Labelled:
    """Sentences and their labels: 1 acceptable, 0 not."""

    sentences: list[str]
    labels: list[int]

    def split(self, *, share: float = SHARE, seed: int = 0) -> tuple["Labelled", "Labelled"]:
        """Draw a development part with both labels in their proportion; equal sentences stay together.

        Raises
        ------
        NotEnoughData
            With fewer than four distinct sentences of a label.

        Examples
        --------
        >>> whole = Labelled(list("abcdefgh"), [0, 1] * 4)
        >>> train, development = whole.split(share=0.25)
        >>> len(train.sentences), sorted(development.labels)
        (6, [0, 1])
        """
        rng = np.random.default_rng([seed, 17])
        drawn: set[str] = set()
        for label in (0, 1):
            pairs = zip(self.sentences, self.labels, strict=True)
            own = list(dict.fromkeys(sentence for sentence, given in pairs if given == label))
            if len(own) < FEWEST:
                raise NotEnoughData(
                    f"{len(own)} distinct sentences have the label {label}.",
                    remedy=f"Give at least {FEWEST} of each, or a development file.",
                )
            chosen = rng.choice(len(own), size=max(1, round(share * len(own))), replace=False)
            drawn.update(own[place] for place in chosen.tolist())
        return self._where(drawn, inside=False), self._where(drawn, inside=True)

    def _where(self, chosen: set[str], *, inside: bool) -> "Labelled":
        rows = [row for row in zip(self.sentences, self.labels, strict=True) if (row[0] in chosen) == inside]
        return Labelled([sentence for sentence, _ in rows], [label for _, label in rows])


def read_cola(path: str | Path) -> Labelled:
    """Read a file of labelled sentences.

    Parameters
    ----------
    path : str or Path
        CoLA's TSV without a head (source, label, the author's mark, sentence), or a table with a head that
        has columns ``label`` and ``sentence`` (CSV, TSV, JSON lines, Parquet).

    Returns
    -------
    Labelled

    Raises
    ------
    BadInput
        If the file is absent, empty, not UTF-8, a row has another number of cells, a label is neither 0 nor
        1, or a sentence is missing; the row is named.
    """
    path = Path(path)
    if path.is_file() and path.suffix.lower() == ".tsv" and not _has_head(path):
        rows = _plain_rows(path)
    else:
        table = read_table(path)
        missing = [name for name in ("label", "sentence") if name not in table.columns]
        if missing:
            raise MissingColumns(missing, found=[str(name) for name in table.columns], file=str(path))
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


def _has_head(path: Path) -> bool:
    with path.open("rb") as text:
        first = text.readline().decode("utf-8-sig", errors="replace").strip().lower().split("\t")
    return "label" in first and "sentence" in first


def _plain_rows(path: Path) -> list[tuple[int, str, str]]:
    """CoLA quotes nothing: a quotation mark is part of the sentence."""
    rows = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
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
