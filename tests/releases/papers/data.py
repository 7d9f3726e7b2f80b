"""Small data folders in the form of the published data sets."""

import json
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


def blimp(folder: Path) -> Path:
    """Two paradigms of BLiMP with two pairs each, a training text, and released accuracies of both."""
    lines = [
        ("determiner_noun_agreement_1", "0", "He saw that house.", "He saw that houses.", True),
        ("determiner_noun_agreement_1", "1", "It saw the night.", "It saw the nights.", True),
        ("wh_island", "0", "The dog was cold.", "Was the dog cold who.", False),
        ("wh_island", "1", "He left the house.", "House the left he.", False),
    ]
    rows = [
        {"UID": name, "pairID": pair, "sentence_good": good, "sentence_bad": bad, "linguistics_term": "x",
         "one_prefix_method": flag, "two_prefix_method": False, "simple_LM_method": True}
        for name, pair, good, bad, flag in lines
    ]  # fmt: skip
    (folder / "blimp").mkdir(parents=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "blimp/pairs.jsonl").write_text(text)
    summary = [
        {"UID": "determiner_noun_agreement_1", "ngram": 0.883, "lstm": 0.918, "txl": 0.917, "gpt2": 0.988},
        {"UID": "wh_island", "ngram": 0.562, "lstm": 0.467, "txl": 0.195, "gpt2": 0.789},
        {"UID": "overall", "ngram": 0.6, "lstm": 0.6, "txl": 0.6, "gpt2": 0.6},
    ]
    text = "".join(json.dumps(row) + "\n" for row in summary)
    (folder / "blimp/models_summary.jsonl").write_text(text)
    (folder / "wikitext-2").mkdir()
    for name in ("valid", "test"):
        (folder / f"wikitext-2/{name}.txt").write_text(WIKITEXT)
    return folder


def climp(folder: Path) -> Path:
    """Twelve pairs of a Mandarin paradigm, two rounds of judgments of two paradigms, and a vocabulary."""
    nouns = "猫狗书车鱼马牛羊鸟花茶米"
    rows = [
        (number, "anaphor_agreement", "anaphor_agreement_gender", f"{verb}喜欢{noun}", label)
        for number, (noun, verb, label) in enumerate(
            (noun, *side) for noun in nouns for side in (("她", 1), ("他", 0))
        )
    ]
    write(folder, "climp/anaphor_agreement_gender_1000.csv", rows, ["", "0", "1", "2", "3"])
    answers = [
        (f"p{person}", paradigm, f"{paradigm}-{item}", int((person, item) != (0, 0)), number)
        for number in (1, 2)
        for paradigm in ("anaphor_agreement_gender", "binding_gender")
        for person in range(10)
        for item in range(2)
    ]
    columns = ["participant", "paradigm", "item", "value", "round"]
    write(folder, "climp-people/judgments.csv", answers, columns)
    (folder / "climp-words").mkdir()
    (folder / "climp-words/vocabulary.txt").write_text("猫\n狗\n貔貅\n")
    (folder / "climp-words/internet-zh.num").write_text("head\n1 900.5 的\n2 80 猫\n3 7 狗\n")
    return folder


PARSED = """# text = A sketch of lights appears.
1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_
2\tsketch\tsketch\tNOUN\t_\t_\t5\tnsubj\t_\t_
3\tof\tof\tADP\t_\t_\t4\tcase\t_\t_
4\tlights\tlight\tNOUN\t_\t_\t2\tnmod\t_\t_
5\tappears\tappear\tVERB\t_\t_\t0\troot\t_\t_
6\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_

# text = Lights appear.
1\tLights\tlight\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tappear\tappear\tVERB\t_\t_\t0\troot\t_\t_
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""


def fict(folder: Path) -> Path:
    """Two paradigms, models of two architectures on three corpora, and a parsed paradigm."""
    blimp(folder)
    pairs = [f"{name}:{pair}" for name in ("determiner_noun_agreement_1", "wh_island") for pair in (0, 1)]
    differences = {  # log P(good) - log P(bad) of the four pairs
        ("LSTM", "full"): (4, 2, 3, 1), ("LSTM", "det-noun"): (1, -2, 2, 1),
        ("LSTM", "passive"): (3, 2, 3, -1),
        ("Transformer", "full"): (5, 3, 4, -2), ("Transformer", "det-noun"): (2, 1, 4, -2),
        ("Transformer", "passive"): (5, 3, 5, 1),
    }  # fmt: skip
    names = {key: f"{key[0]} {key[1]}" for key in differences}
    rows = [
        (f"{pair}:{side}", *(-20.0 + margins[place] * (side == "good") for margins in differences.values()))
        for place, pair in enumerate(pairs)
        for side in ("good", "bad")
    ]
    write(folder, "scores/fict/all.csv", rows, ["sentence_id", *names.values()])
    perplexities = (50, 54, 52, 45, 47, 46)
    models = [
        (names[key], *key, 1, 100 - 2 * place % 6, perplexity)
        for place, (key, perplexity) in enumerate(zip(differences, perplexities, strict=True))
    ]
    columns = ["model", "family", "corpus", "seed", "training_tokens", "perplexity"]
    write(folder, "scores/fict/models.csv", models, columns)
    (folder / "fict/parsed").mkdir(parents=True)
    (folder / "fict/parsed/distractor_agreement_relational_noun.conllu").write_text(PARSED)
    return folder


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
