"""Predictions of the BabyLM evaluation pipeline, read and written: ``babylm:PATH?pairs=FILE``."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...errors import BadInput, MissingColumns
from ...files import read_table
from ..base import Progress, Scores, Spec, file_revision, looked_up_scores
from ..model_uri import ModelURI, Option, parse_options

TASKS = ("blimp", "blimp_supplement", "ewok")  # of a collated file; its other tasks have no pairs
PAIR_COLUMNS = ("sentence_good", "sentence_bad", "UID")
EWOK_COLUMNS = ("Context1", "Target1", "Target2", "Domain")
ID_COLUMNS = ("good_id", "bad_id")  # of the items of EWoK that a release has
PAIRS = Option("pairs", placeholder="FILE")
SAVE_PREDICTIONS = "Run the pipeline with --save_predictions and name its predictions.json."


class Prediction(NamedTuple):
    """The text that a model chose, of which subset and at which place in it."""

    subset: str
    place: int
    text: str


class Choice(NamedTuple):
    """A pair: both sentences or their ids, and both texts as the pipeline compares them.

    In EWoK the texts are without the context.
    """

    good: str
    bad: str
    good_text: str
    bad_text: str


class BabyLMPredictionScorer:
    """Gives 1 to the sentence that the model chose in its pair and 0 to the other.

    The files have choices, no probabilities, so ``pairs`` must name the sentences they were made among:
    BLiMP's fields (``pairs.jsonl`` of a release) or those of EWoK (``ewok/pairs.jsonl``). Sentences of a
    release's EWoK are looked up by their ids, because a text occurs after several contexts. A sentence that
    was chosen in one pair and not in another has no score, nor has one without a prediction.
    """

    OPTIONS = (PAIRS,)
    capabilities = frozenset({"sum"})
    warnings = (
        "The BabyLM pipeline names the good sentence where a model gives both the same score, which compare "
        "would count as failed: its predictions do not tell where.",
    )

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        self.file = uri.target
        if not options["pairs"]:
            raise BadInput(
                "the predictions have chosen sentences only.",
                file=self.file,
                remedy="Name the pairs: babylm:predictions.json?pairs=pairs.jsonl.",
            )
        pairs, has_ids = _pairs_by_subset(options["pairs"])
        self.key = "sentence_id" if has_ids else "sentence"
        self.choices = _choices(uri.target, options["pairs"], pairs)
        self.spec = Spec(uri=uri.uri, revision=file_revision(uri.target), method="csv", tokens="space")

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Look up every sentence; NaN where there is no prediction, or predictions differ."""
        keys = ids if self.key == "sentence_id" else None
        return looked_up_scores(sentences, self.choices, keys=keys, progress=progress)


def babylm_predictions(pairs: pd.DataFrame, scores: Mapping[str, float]) -> dict[str, Any]:
    """Write choices in the shape of the pipeline's ``predictions.json``.

    Notes
    -----
    Of two equal scores the pipeline takes the first sentence, the good one. Pairs without both scores are
    left out; ids keep the place of the pair in its paradigm.

    Examples
    --------
    >>> pair = {"UID": "agreement", "sentence_good": "It is.", "sentence_bad": "It are."}
    >>> babylm_predictions(pd.DataFrame([pair]), {"It is.": -3.0, "It are.": -5.0})
    {'agreement': {'predictions': [{'id': 'agreement_0', 'pred': 'It is.'}]}}
    """
    absent = [column for column in PAIR_COLUMNS if column not in pairs.columns]
    if absent:
        raise MissingColumns(absent, existing=list(map(str, pairs.columns)))
    document: dict[str, Any] = {}
    for subset, rows in pairs.groupby("UID", sort=False):
        predictions = document.setdefault(str(subset), {"predictions": []})["predictions"]
        for place, (good, bad) in enumerate(zip(rows["sentence_good"], rows["sentence_bad"], strict=True)):
            good_score, bad_score = scores.get(good, math.nan), scores.get(bad, math.nan)
            if not math.isnan(good_score + bad_score):
                chosen = good if good_score >= bad_score else bad
                predictions.append({"id": f"{subset}_{place}", "pred": chosen})
    return document


def equal_scores(pairs: pd.DataFrame, scores: Mapping[str, float]) -> int:
    """Number of pairs whose two sentences have the same score: in predictions the good one is chosen."""
    goods, bads = (pairs[column].map(scores) for column in ("sentence_good", "sentence_bad"))
    return int((goods == bads).sum())


def _choices(file: str, pair_file: str, pairs: Mapping[str, Sequence[Choice]]) -> dict[str, float]:
    """Return 1 or 0 by sentence; NaN where two pairs disagree about a sentence."""
    choices: dict[str, float] = {}
    for number, prediction in enumerate(_predictions(file), start=1):
        pair = _find_pair(prediction, pairs.get(prediction.subset.lower(), []))
        if pair is None:
            raise BadInput(
                f"{prediction.text!r} of {prediction.subset} is in none of its pairs in {pair_file}.",
                file=file,
                row=number,
                column="pred",
                remedy="Name the pairs that the pipeline evaluated.",
            )
        is_good = prediction.text == pair.good_text
        for sentence, value in ((pair.good, float(is_good)), (pair.bad, float(not is_good))):
            choices[sentence] = value if choices.get(sentence, value) == value else math.nan
    return choices


def _find_pair(prediction: Prediction, pairs: Sequence[Choice]) -> Choice | None:
    """Return the pair at the prediction's place, else the only one with its text."""
    if prediction.place < len(pairs):
        pair = pairs[prediction.place]
        if prediction.text in (pair.good_text, pair.bad_text):
            return pair
    matching = {pair for pair in pairs if prediction.text in (pair.good_text, pair.bad_text)}
    return matching.pop() if len(matching) == 1 else None


def _pairs_by_subset(file: str) -> tuple[dict[str, list[Choice]], bool]:
    """Return the pairs of each subset, and whether their sentences are named by ids."""
    table = read_table(file)
    is_ewok = set(EWOK_COLUMNS) <= set(table.columns)
    has_ids = is_ewok and set(ID_COLUMNS) <= set(table.columns)
    columns: tuple[str, ...] = EWOK_COLUMNS if is_ewok else PAIR_COLUMNS
    if absent := [column for column in columns if column not in table.columns]:
        raise MissingColumns(absent, existing=list(map(str, table.columns)), file=file)
    pairs: dict[str, list[Choice]] = defaultdict(list)
    columns += ID_COLUMNS if has_ids else ()
    for row in table[list(columns)].astype(str).itertuples(index=False, name=None):
        texts = [text.strip() for text in row]
        if is_ewok:
            context, good, bad, subset, *ids = texts
            good_key, bad_key = ids or (f"{context} {good}", f"{context} {bad}")
            choice = Choice(good_key, bad_key, good, bad)
        else:
            good, bad, subset = texts
            choice = Choice(good, bad, good, bad)
        pairs[subset.lower()].append(choice)
    return pairs, has_ids


def _predictions(file: str) -> Iterator[Prediction]:
    """Yield the predictions of one task, or of the tasks with pairs in a collated file."""
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
        # A collated file (all_full_preds_*.json) has the subsets of each task under the task's name.
        tasks = [
            document[task] for task in TASKS if "predictions" not in document.get(task, ("predictions",))
        ]
        subsets = {name: rows for task in tasks or [document] for name, rows in task.items()}
        rows = [(name, row["id"], row["pred"]) for name in subsets for row in subsets[name]["predictions"]]
        if not rows:
            raise ValueError
        predictions = [
            Prediction(name, int(identifier.rpartition("_")[2]), text.strip())
            for name, identifier, text in rows
        ]
    except OSError as error:
        raise BadInput(f"cannot be read: {error}.", file=file) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput("there are no predictions of pairs.", file=file, remedy=SAVE_PREDICTIONS) from error
    yield from predictions
