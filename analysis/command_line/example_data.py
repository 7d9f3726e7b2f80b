"""Simulated data of two small studies, for tutorials and first steps: the same numbers on every machine."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import BadInput, UnknownName
from ..files import write_table

NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Henry")
PLURALS = ("keys", "books", "cups", "dogs", "songs", "boats", "maps", "lamps")
#: Verb and object of each item of the island study.
PHRASES = (
    ("sold", "car"), ("fixed", "bike"), ("read", "letter"), ("found", "ring"),
    ("lost", "phone"), ("painted", "fence"), ("bought", "lamp"), ("hid", "map"),
    ("cleaned", "window"), ("broke", "vase"), ("wrote", "poem"), ("built", "boat"),
    ("cooked", "soup"), ("opened", "box"), ("watched", "film"), ("closed", "shop"),
)  # fmt: skip
#: Paradigm, phenomenon, and the share of careful answers that choose the expected member.
PARADIGMS = {
    "subject_verb_near": ("subject-verb agreement", 0.97),
    "subject_verb_attractor": ("subject-verb agreement", 0.85),
    "determiner_number": ("determiner-noun agreement", 0.95),
    "polarity": ("negative polarity", 0.72),
}
#: Mean rating of each cell of the island design: the last one is lower than the two factors predict.
CELLS = {
    ("non-island", "short"): 6.1,
    ("non-island", "long"): 5.2,
    ("island", "short"): 5.5,
    ("island", "long"): 2.4,
}
STUDIES = ("validation", "islands")
PEOPLE = 24
CARELESS = (7, 19)  # participants who answer at random
MS_OF_MEDIAN = 1_900
CORPUS_LINES = 400


def example_pairs() -> pd.DataFrame:
    """Return the minimal pairs of the validation study.

    The result has ``pair_id``, ``paradigm``, ``phenomenon``, ``good_id``, ``bad_id``, ``sentence_good``,
    ``sentence_bad``.

    Examples
    --------
    >>> example_pairs().iloc[0]["sentence_good"]
    'The keys are here.'
    """
    rows = []
    for (paradigm, (phenomenon, _)), number in itertools.product(PARADIGMS.items(), range(8)):
        noun, name = PLURALS[number], NAMES[number]
        good, bad = {
            "subject_verb_near": (f"The {noun} are here.", f"The {noun} is here."),
            "subject_verb_attractor": (
                f"The {noun} near the door are here.",
                f"The {noun} near the door is here.",
            ),
            "determiner_number": (f"{name} likes these {noun}.", f"{name} likes this {noun}."),
            "polarity": (f"No {noun} will ever return.", f"Some {noun} will ever return."),
        }[paradigm]
        key = f"{paradigm}-{number + 1}"
        rows.append((key, paradigm, phenomenon, f"{key}.good", f"{key}.bad", good, bad))
    names = ["pair_id", "paradigm", "phenomenon", "good_id", "bad_id", "sentence_good", "sentence_bad"]
    return pd.DataFrame(rows, columns=names)


def example_study(name: str) -> pd.DataFrame:
    """Return the simulated judgments of a small study.

    Parameters
    ----------
    name : {"validation", "islands"}
        ``validation``: 24 participants choose the better member of 32 minimal pairs, in documented columns
        and with catch trials; two participants answer at random. ``islands``: as many participants rate a 2×2
        design (whether-islands × length of the dependency) of 16 items from 1 to 7, in columns of a lab of
        its own: ``subj``, ``item``, ``structure``, ``distance``, ``sentence``, ``rating``, ``RT``.

    Returns
    -------
    DataFrame, one row per judgment
        The same rows at every call.

    Raises
    ------
    UnknownName
        If there is no study of that name.

    Examples
    --------
    >>> example_study("islands").columns.tolist()
    ['subj', 'item', 'structure', 'distance', 'sentence', 'rating', 'RT']
    >>> len(example_study("validation"))
    816
    """
    if name not in STUDIES:
        raise UnknownName("example", name, STUDIES)
    return _validation() if name == "validation" else _islands()


def _validation() -> pd.DataFrame:
    rng, pairs, rows = np.random.default_rng(2026), example_pairs(), []
    for person in range(1, PEOPLE + 1):
        participant, careless = f"P{person:02}", person in CARELESS
        order = rng.permutation(len(pairs))
        for position, place in enumerate(order, start=1):
            pair = pairs.iloc[place]
            good_first = bool(rng.integers(2))
            share = 0.5 if careless else PARADIGMS[str(pair["paradigm"])][1]
            chooses_good = bool(rng.random() < share)
            rows.append({
                "participant": participant,
                "position": position,
                "kind": "target",
                "task": "forced_choice",
                "phenomenon": pair["phenomenon"],
                "paradigm": pair["paradigm"],
                "item": pair["pair_id"],
                "pair_id": pair["pair_id"],
                "sentence_id": pair["good_id"] if chooses_good else pair["bad_id"],
                "value": float(chooses_good),
                "shown_first": pair["good_id"] if good_first else pair["bad_id"],
                "expected_first": good_first,
                "correct": None,
                "rt_ms": _milliseconds(rng, careless=careless),
            })  # fmt: skip
        for number in (1, 2):
            right = bool(rng.random() < (0.3 if careless else 0.99))
            rows.append({
                "participant": participant,
                "position": len(pairs) + number,
                "kind": "catch",
                "task": "forced_choice",
                "item": f"catch-{number}",
                "value": float(right),
                "correct": right,
                "rt_ms": _milliseconds(rng, careless=careless),
            })  # fmt: skip
    frame = pd.DataFrame(rows)
    texts = ["phenomenon", "paradigm", "pair_id", "sentence_id", "shown_first"]
    frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), "")
    return frame


def _islands() -> pd.DataFrame:
    rng, rows = np.random.default_rng(2027), []
    items, cells = range(1, 17), list(CELLS)
    item_effects = rng.normal(0, 0.3, len(items))
    for person in range(1, PEOPLE + 1):
        shift = rng.normal(0, 0.5)
        for item in items:
            structure, distance = cells[(item + person) % 4]  # a Latin square: one cell of each item
            mean = CELLS[structure, distance] + shift + item_effects[item - 1]
            rows.append({
                "subj": f"S{person:02}",
                "item": item,
                "structure": structure,
                "distance": distance,
                "sentence": island_sentence(item, structure, distance),
                "rating": int(np.clip(round(mean + rng.normal(0, 0.9)), 1, 7)),
                "RT": _milliseconds(rng, careless=False),
            })  # fmt: skip
    return pd.DataFrame(rows)


def island_sentence(item: int, structure: str, distance: str) -> str:
    """Return the sentence of a cell of an item.

    Examples
    --------
    >>> island_sentence(1, "island", "long")
    'What do you wonder whether Anna sold?'
    """
    name, (verb, thing) = NAMES[(item - 1) % len(NAMES)], PHRASES[item - 1]
    matrix, link = ("wonder", "whether") if structure == "island" else ("think", "that")
    if distance == "long":
        return f"What do you {matrix} {link} {name} {verb}?"
    return f"Who {matrix}s {link} {name} {verb} the {thing}?"


def _milliseconds(rng: np.random.Generator, *, careless: bool) -> float:
    return float(round(np.exp(rng.normal(np.log(450 if careless else MS_OF_MEDIAN), 0.35))))


def write_examples(folder: str | Path) -> list[str]:
    """Write the files that the tutorials use; return their names.

    Parameters
    ----------
    folder : str or Path
        Where to write; it is made where it does not exist. Files of these names are replaced.

    Returns
    -------
    list of str
        ``validation.csv`` and ``islands.csv`` (:func:`example_study`), ``pairs.csv`` and ``sentences.csv`` of
        the validation study, ``human.csv`` (the share of choices of each sentence) and ``corpus.txt``,
        from which a model can be trained.

    Raises
    ------
    BadInput
        If the folder cannot be made.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_examples(folder)
    ['validation.csv', 'islands.csv', 'pairs.csv', 'sentences.csv', 'human.csv', 'corpus.txt']
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("there is no such folder, and it cannot be made.", file=str(folder)) from error
    pairs, judged = example_pairs(), example_study("validation")
    members = [
        pairs[[f"{side}_id", f"sentence_{side}", "paradigm"]].set_axis(
            ["sentence_id", "sentence", "paradigm"], axis=1
        )
        for side in ("good", "bad")
    ]
    sentences = pd.concat(members, ignore_index=True)
    share = judged[judged["kind"] == "target"].groupby("pair_id")["value"].mean()
    human = pd.concat([
        pd.DataFrame({"sentence_id": pairs["good_id"], "score": pairs["pair_id"].map(share)}),
        pd.DataFrame({"sentence_id": pairs["bad_id"], "score": 1 - pairs["pair_id"].map(share)}),
    ])  # fmt: skip
    tables = {
        "validation.csv": judged,
        "islands.csv": example_study("islands"),
        "pairs.csv": pairs,
        "sentences.csv": sentences,
        "human.csv": human.round(6),
    }
    for name, table in tables.items():
        write_table(table, folder / name)
    (folder / "corpus.txt").write_text("\n".join(_corpus()) + "\n", encoding="utf-8")
    return [*tables, "corpus.txt"]


def _corpus() -> list[str]:
    rng = np.random.default_rng(2028)
    lines = []
    for _ in range(CORPUS_LINES):
        noun, name = (str(rng.choice(words)) for words in (PLURALS, NAMES))
        verb, thing = PHRASES[int(rng.integers(len(PHRASES)))]
        templates = (
            f"The {noun} are here.",
            f"The {thing} near the door is here.",
            f"{name} likes these {noun}.",
            f"{name} likes this {thing}.",
            f"No {thing} will ever return.",
            f"{name} {verb} the {thing}.",
        )
        lines.append(templates[int(rng.integers(len(templates)))])
    return lines
