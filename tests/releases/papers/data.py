"""Small data folders in the form of the published data sets."""

from pathlib import Path

import pandas as pd

WIKITEXT = (
    "\n = Head = \n\n"
    + " The dog saw the old house . It was a long and cold night . He left the house , too . \n" * 20
)


def write(folder: Path, name: str, rows: list[tuple], columns: list[str]) -> None:
    """Write a table of a data set."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)


def li_adger(folder: Path) -> Path:
    """Four pairs of LI-Adger, one of them discarded, with ratings and a training text."""
    rated = [
        ("32.3.Culicover.7a.g.01", "John tried to win.", 1.453262),
        ("32.3.Culicover.7b.*.01", "John tried himself to win.", -0.86729),
        ("33.2.bowers.7b.g.07", "Sarah counted the change accurately.", 1.230412),
        ("33.2.bowers.7b.*.07", "Sarah accurately counted the change.", 1.20698),
        ("32.4.lopez.9a.g.06", "We proved Amelia to the manager to be responsible.", -0.56008),
        ("32.4.lopez.10a.*.06", "We proved to the manager Amelia to be responsible.", -0.13864),
    ]
    sentences = [("LI", "", "", name, text, len(text.split())) for name, text, _ in rated]
    write(
        folder,
        "li-adger/li-adger_sentences.csv",
        sentences,
        ["dataset", "notes", "typo?", "id", "sentence", "sent_length"],
    )
    human = [("LI", "", "", name, text, mean) for name, text, mean in rated]
    write(
        folder, "li-adger/human_ME_results_li-adger_sentences.csv", human,
        ["dataset", "notes", "typo?", "id", "sentence", "judgement"],
    )  # fmt: skip
    names = [(good, bad, "") for good, bad in zip(rated[::2], rated[1::2], strict=True)]
    names.append((rated[0], rated[3], "X"))
    pairs = [("LI", mark, "", "", good[0], good[1], bad[0], bad[1]) for good, bad, mark in names]
    write(
        folder, "li-adger/li-adger_min_pairs.csv", pairs,
        ["dataset", "discard", "notes", "phenomenon"]
        + [f"{side}_{part}" for side in ("gramm", "ungramm") for part in ("id", "sentence")],
    )  # fmt: skip
    return folder


def adc_scores(folder: Path) -> None:
    """Scores of a classifier and of a trigram, named as the rows of table 1."""
    names = pd.read_csv(folder / "li-adger/li-adger_sentences.csv")["id"]
    columns = {
        "BERT-large-cased CoLA": [0.9, -0.8, 0.9, 0.8, 0.95, -0.9],
        "trigram SLOR": [0.4, 0.3, -0.2, 0.1, 0.2, 0.5],
    }
    rows = pd.DataFrame({"sentence_id": names, **columns})
    (folder / "scores/adc").mkdir(parents=True)
    rows.to_csv(folder / "scores/adc/models.csv", index=False)


def cola(folder: Path) -> None:
    """Six labelled sentences, decisions of three restarts, and two features."""
    labelled = [(number, f"Sentence {number}.", label) for number, label in enumerate([1, 1, 0, 0, 1, 0])]
    write(folder, "cola/cola_out_of_domain_test.csv", labelled, ["", "sentence", "label"])
    restarts = [(1, 1, 1), (1, 1, 0), (0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 0, 0)]
    write(folder, "scores/cola/BERT-base-uncased.csv", restarts, ["1", "2", "3"])
    annotated = [("in", label, text, int(number < 4), 1) for number, text, label in labelled]
    name = "cola/CoLA_grammatical_annotations_major_features.tsv"
    path = folder / name
    pd.DataFrame(annotated, columns=["Domain", "Label", "Sentence", "Simple", "Question"]).to_csv(
        path, index=False, sep="\t"
    )
    write(folder, "scores/cola-major/BERT-base-uncased.csv", restarts, ["1", "2", "3"])
