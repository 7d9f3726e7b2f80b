"""Pair tables: sentence scores joined to minimal pairs as differences, with the omitted pairs listed."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..columns import require_columns
from ..errors import BadInput, NotEnoughData
from ..notebooks import NotebookResult
from ..scoring.orientation import are_all_positive, is_unclear
from .criteria import FloatArray, standardize
from .intervals import pair_clusters

INVERTED_PAIRS, INVERTED_SHARE = 20, 0.1  # least pairs, and the largest share of them that is right


@dataclass(frozen=True, repr=False)
class PairTable(NotebookResult):
    """The pairs, human differences and each model's scores and differences."""

    pairs: pd.DataFrame
    human_delta: pd.Series
    scores: pd.DataFrame
    standardized: pd.DataFrame
    model_delta: pd.DataFrame
    prefers_good: pd.DataFrame
    clusters: pd.Series
    human_scores: pd.Series
    """Human scores by sentence."""
    already_standardized: bool = False

    @property
    def models(self) -> list[str]:
        """Names of the models, in the order of the files."""
        return [str(name) for name in self.scores.columns]

    def permutation_arrays(
        self, model: str
    ) -> tuple[FloatArray, npt.NDArray[np.int64], npt.NDArray[np.int64], FloatArray]:
        """Return a model's scores, the positions of the members of labelled pairs in them, and Δh."""
        scores = self.standardized[model].dropna()
        good, bad = (scores.index.get_indexer(pd.Index(self.pairs[side])) for side in ("good_id", "bad_id"))
        is_used = (good >= 0) & (bad >= 0) & self.is_labeled
        return (
            scores.to_numpy(dtype=float),
            good[is_used].astype(np.int64),
            bad[is_used].astype(np.int64),
            self.human_delta.to_numpy(dtype=float)[is_used],
        )

    @property
    def is_labeled(self) -> npt.NDArray[np.bool_]:
        """Mask of the pairs with human scores of both members."""
        return self.human_delta.notna().to_numpy()


def pair_table(
    human: pd.DataFrame | None,
    pairs: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    already_standardized: bool = False,
) -> PairTable:
    """Join human scores and model scores to the pairs.

    Examples
    --------
    >>> human = pd.DataFrame({"sentence_id": list("abcd"), "score": [1.0, -1.0, 0.5, -0.5]})
    >>> pairs = pd.DataFrame({"pair_id": [1, 2], "good_id": ["a", "c"], "bad_id": ["b", "d"]})
    >>> scores = pd.DataFrame({"sentence_id": list("abc"), "model": [-8.0, -9.0, -7.0]})
    >>> table = pair_table(human, pairs, scores, already_standardized=True)
    >>> table.human_delta.tolist(), table.model_delta["model"].tolist()
    ([2.0, 1.0], [1.0, nan])
    """
    require_columns(pairs, "pair_id", "good_id", "bad_id")
    pairs = pairs.astype({"pair_id": str, "good_id": str, "bad_id": str}).reset_index(drop=True)
    _refuse_repeats(pairs["pair_id"], column="pair_id")
    if not len(pairs):
        raise NotEnoughData("there are no pairs to compare.")
    people = _human_scores(human)
    by_sentence = _model_scores(scores)
    standardized = by_sentence if already_standardized else by_sentence.apply(standardize)
    model_delta = _members(standardized, pairs["good_id"]) - _members(standardized, pairs["bad_id"])
    prefers = _members(by_sentence, pairs["good_id"]) - _members(by_sentence, pairs["bad_id"])
    if not prefers.notna().any(axis=None):
        examples = ", ".join(map(str, by_sentence.index[:3]))
        raise NotEnoughData(
            "no pair has scores of both members.",
            remedy=f"Pairs name sentences such as {pairs['good_id'].iloc[0]}, scores {examples or 'none'}.",
        )
    human_delta = pairs["good_id"].map(people) - pairs["bad_id"].map(people)
    return PairTable(
        pairs,
        human_delta.astype(float),
        by_sentence,
        standardized,
        model_delta,
        (prefers > 0).astype(float).where(prefers.notna()),
        pair_clusters(pairs),
        people,
        already_standardized,
    )


def warn_of_signs(table: PairTable, signs: Mapping[str, str]) -> None:
    """Warn of columns that leave open which values mean better sentences, unless ``signs`` has their sign."""
    for name in table.models:
        is_lower, is_open = is_lower_for_good(table, name), is_unclear(name, table.scores[name])
        if name in signs or not (is_lower or is_open):
            continue
        is_positive = are_all_positive(table.scores[name])
        reason = "all positive, as surprisals and perplexities are" if is_positive else "named as a loss"
        parts = ["lower for nearly all good members"] * is_lower + [reason] * is_open
        warnings.warn(
            f"the scores {name!r} are {', and '.join(parts)}. A higher value counts as a better sentence: if "
            f"a lower one is, negate them; scores.attrs['signs'] = {{{name!r}: 'higher'}} states that they "
            "are right.",
            stacklevel=3,
        )


def refuse_inverted(table: PairTable, signs: Mapping[str, str]) -> None:
    """Raise for a column that is lower for nearly all good members, unless ``signs`` has its sign."""
    for name in table.models:
        if name not in signs and is_lower_for_good(table, name):
            prefers = table.prefers_good[name].dropna()
            raise BadInput(
                f"lower for nearly all good members ({int(prefers.sum())} of {len(prefers)} pairs right).",
                column=str(name),
                remedy=f"Say which values mean a better sentence: --sign {name}=lower (they are negated) or "
                f"--sign {name}=higher (the model is wrong).",
            )


def is_lower_for_good(table: PairTable, name: str) -> bool:
    """Return whether a model's scores are lower for nearly all good members, as if their sign were wrong."""
    prefers = table.prefers_good[name].dropna()
    return bool(len(prefers) >= INVERTED_PAIRS and prefers.mean() <= INVERTED_SHARE)


def missing_sentences(table: PairTable, model: str) -> list[str]:
    """Return the members of pairs for which a model has no score.

    Examples
    --------
    >>> human = pd.DataFrame({"sentence_id": list("abcd"), "score": [1.0, -1.0, 0.5, -0.5]})
    >>> pairs = pd.DataFrame({"pair_id": [1, 2], "good_id": ["a", "c"], "bad_id": ["b", "d"]})
    >>> scores = pd.DataFrame({"sentence_id": list("abc"), "model": [-8.0, -9.0, -7.0]})
    >>> missing_sentences(pair_table(human, pairs, scores), "model")
    ['d']
    """
    members = pd.concat([table.pairs["good_id"], table.pairs["bad_id"]]).drop_duplicates()
    scored = table.scores[model].dropna().index
    return [str(sentence) for sentence in members[~members.isin(scored)]]


def left_out(table: PairTable) -> dict[str, Any]:
    """Return the pairs that are not counted, by reason and model."""
    ids = table.pairs["pair_id"]
    unlabeled = [str(pair) for pair in ids[~table.is_labeled]]
    missing = {}
    for name in table.models:
        is_missing = table.prefers_good[name].isna()
        if is_missing.any():
            missing[name] = {
                "pairs": int(is_missing.sum()),
                "pair_ids": [str(pair) for pair in ids[is_missing]],
                "sentence_ids": missing_sentences(table, name),
            }
    return {"unlabeled": {"pairs": len(unlabeled), "pair_ids": unlabeled}, "missing_score": missing}


def standardization(table: PairTable) -> dict[str, Any]:
    """Describe how scores were standardized and over which sentences."""
    if table.already_standardized:
        return {
            "models": "as given",
            "ddof": None,
            "population": None,
            "sentences": None,
            "human": "as given",
        }
    return {
        "models": "z",
        "ddof": 0,
        "population": "all scored sentences, each once",
        "sentences": {name: int(table.scores[name].notna().sum()) for name in table.models},
        "human": "as given",
    }


def _human_scores(human: pd.DataFrame | None) -> pd.Series:
    if human is None:
        return pd.Series(dtype=float)
    require_columns(human, "sentence_id", "score")
    _refuse_repeats(human["sentence_id"], column="sentence_id")
    scores = human.set_index(human["sentence_id"].astype(str))["score"].astype(float)
    _refuse_infinite(scores)
    return scores


def _model_scores(scores: pd.DataFrame) -> pd.DataFrame:
    require_columns(scores, "sentence_id")
    models = [column for column in scores.columns if column != "sentence_id"]
    if not models:
        raise BadInput(
            "there is no column of scores.", remedy="Give one column per model beside sentence_id."
        )
    _refuse_repeats(scores["sentence_id"], column="sentence_id")
    table = scores.set_index(scores["sentence_id"].astype(str))[models].astype(float)
    for model in models:
        _refuse_infinite(table[model])
    return table


def _members(table: pd.DataFrame, ids: pd.Series) -> pd.DataFrame:
    return table.reindex(pd.Index(ids)).reset_index(drop=True)


def _refuse_repeats(ids: pd.Series, *, column: str) -> None:
    repeated = ids.astype(str)[ids.astype(str).duplicated()]
    if len(repeated):
        raise BadInput(f"{repeated.iloc[0]!r} appears twice.", column=column, remedy="Each may appear once.")


def _refuse_infinite(values: pd.Series) -> None:
    wrong = values[np.isinf(values.to_numpy(dtype=float))]
    if len(wrong):
        raise BadInput(f"the score of {wrong.index[0]!r} is not finite.", column=str(values.name))
