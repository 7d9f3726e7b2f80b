"""Sentence and pair tables of a gold release, with human columns."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..aggregation.proportions import share_sd, wilson_interval
from ..aggregation.ratings import item_means
from ..aggregation.undecided import is_undecided
from ..agreement.majority import N_MIN
from ..columns import require_columns
from ..errors import BadInput
from ..rows import RATING_TASKS, is_kind, merge_answers, numbers
from ..scales import zscore_by_participant
from .labels import UNDECIDED, acceptability_labels, difference_labels, preference_labels
from .writers import round_computed

HUMAN_SENTENCE_COLUMNS = (
    "human_n",
    "human_k",
    "human_share",
    "human_ci_low",
    "human_ci_high",
    "human_mean",
    "human_sd",
    "human_se",
    "human_mean_raw",
    "human_label",
)
HUMAN_PAIR_COLUMNS = (
    "human_n",
    "human_k",
    "human_k_bad",
    "human_n_both",
    "human_n_neither",
    "human_share",
    "human_ci_low",
    "human_ci_high",
    "human_n_good",
    "human_n_bad",
    "human_mean_good",
    "human_mean_bad",
    "human_delta",
    "human_label",
)
_COUNTS = (
    "human_n",
    "human_k",
    "human_k_bad",
    "human_n_both",
    "human_n_neither",
    "human_n_good",
    "human_n_bad",
)


def sentence_table(
    judgments: pd.DataFrame, sentences: pd.DataFrame, *, task: str, n_min: int = N_MIN
) -> pd.DataFrame:
    """Add the human columns to every sentence.

    References
    ----------
    Schütze & Sprouse (2013), "Judgment data", in *Research Methods in Linguistics*, CUP.
    """
    require_columns(sentences, "sentence_id")
    frame = sentences.reset_index(drop=True)
    if task == "yes_no":
        human = _yes_shares(judgments, n_min=n_min)
    elif task in RATING_TASKS:
        human = _rating_means(judgments)
    else:
        human = pd.DataFrame({"sentence_id": []})
    merged = frame.merge(human, on="sentence_id", how="left", validate="one_to_one")
    return _complete(merged, HUMAN_SENTENCE_COLUMNS)


def pair_table(
    judgments: pd.DataFrame,
    sentences: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    task: str,
    n_min: int = N_MIN,
) -> pd.DataFrame:
    """Add the human columns to every minimal pair.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    require_columns(pairs, "pair_id", "good_id", "bad_id")
    if task == "yes_no" or task in RATING_TASKS:
        return _complete(_member_means(sentences, pairs, n_min=n_min), HUMAN_PAIR_COLUMNS)
    human = _choice_shares(judgments, n_min=n_min)
    merged = pairs.reset_index(drop=True).merge(human, on="pair_id", how="left", validate="one_to_one")
    return _complete(merged, HUMAN_PAIR_COLUMNS)


def _choice_shares(judgments: pd.DataFrame, *, n_min: int) -> pd.DataFrame:
    rows = _answered_rows(judgments, "pair_id")
    is_open, value = is_undecided(rows), rows["value"].to_numpy()
    answers = {
        "human_k": (value == 1) & ~is_open,
        "human_k_bad": (value == 0) & ~is_open,
        "human_n_both": is_undecided(rows, answer="both"),
        "human_n_neither": is_undecided(rows, answer="neither"),
        "half": value == 0.5,
        "n": np.ones(len(rows), dtype=bool),
    }
    counts = pd.DataFrame(answers, index=rows.index).groupby(rows["pair_id"], observed=True).sum()
    k, n, half = (counts[name].to_numpy().astype(int) for name in ("human_k", "n", "half"))
    labels = preference_labels(k, n, n_min=n_min, halves=half)
    shares = _shares(counts.index, k, n, name="pair_id", labels=labels, halves=half)
    columns = ("human_k_bad", "human_n_both", "human_n_neither")
    return shares.assign(**{name: counts[name].to_numpy() for name in columns})


def _yes_shares(judgments: pd.DataFrame, *, n_min: int) -> pd.DataFrame:
    rows = _answered_rows(judgments, "sentence_id")
    answers = pd.DataFrame({"k": rows["value"] == 1, "half": rows["value"] == 0.5, "n": 1})
    counts = answers.groupby(rows["sentence_id"], observed=True).sum()
    k, half, n = (counts[name].to_numpy().astype(int) for name in ("k", "half", "n"))
    labels = acceptability_labels(k, n, n_min=n_min, halves=half)
    shares = _shares(counts.index, k, n, name="sentence_id", labels=labels, halves=half)
    sd = share_sd(shares["human_share"].to_numpy(), n)
    return shares.assign(
        human_mean=shares["human_share"],
        human_sd=round_computed(pd.Series(sd)),
        human_se=round_computed(pd.Series(sd / np.sqrt(n))),
        human_mean_raw=shares["human_share"],
    )


def _rating_means(judgments: pd.DataFrame) -> pd.DataFrame:
    means = item_means(judgments, zscore_by_participant(judgments))
    identified = means[(means["sentence_id"] != "") & (means["n"] > 0)]
    if identified["sentence_id"].duplicated().any():
        raise BadInput("a sentence occurs in two items or conditions.", column="sentence_id")
    columns = {"human_mean": "mean", "human_sd": "sd", "human_se": "se", "human_mean_raw": "mean_raw"}
    human = pd.DataFrame({"sentence_id": identified["sentence_id"], "human_n": identified["n"]})
    return human.assign(**{column: round_computed(identified[source]) for column, source in columns.items()})


def _member_means(sentences: pd.DataFrame, pairs: pd.DataFrame, *, n_min: int) -> pd.DataFrame:
    means = sentences.set_index("sentence_id")[["human_mean", "human_n"]]
    members = {side: means.reindex(pairs[f"{side}_id"]).reset_index(drop=True) for side in ("good", "bad")}
    n_good, n_bad = (members[side]["human_n"].fillna(0).astype(int) for side in ("good", "bad"))
    difference = round_computed(members["good"]["human_mean"] - members["bad"]["human_mean"])
    fewest = np.minimum(n_good.to_numpy(), n_bad.to_numpy())
    return pairs.reset_index(drop=True).assign(
        human_n=n_good + n_bad,
        human_n_good=n_good,
        human_n_bad=n_bad,
        human_mean_good=members["good"]["human_mean"],
        human_mean_bad=members["bad"]["human_mean"],
        human_delta=difference,
        human_label=difference_labels(difference, fewest, n_min=n_min),
    )


def _answered_rows(judgments: pd.DataFrame, by: str) -> pd.DataFrame:
    require_columns(judgments, by, "value")
    values = numbers(judgments)
    identifier = judgments[by]
    selected = is_kind(judgments, ("target",)) & ~np.isnan(values) & (identifier.notna() & (identifier != ""))
    rows, merged = merge_answers(judgments[selected], values[selected], unit=by)
    return rows.assign(value=merged)


def _shares(
    index: pd.Index,
    k: np.ndarray,
    n: np.ndarray,
    *,
    name: str,
    labels: np.ndarray,
    halves: np.ndarray | int = 0,
) -> pd.DataFrame:
    successes = k + np.asarray(halves) / 2
    low, high = wilson_interval(successes, n)
    return pd.DataFrame(
        {
            name: index.astype(object),
            "human_n": n,
            "human_k": k,
            "human_share": round_computed(pd.Series(successes / n, dtype=float)),
            "human_ci_low": round_computed(pd.Series(low)),
            "human_ci_high": round_computed(pd.Series(high)),
            "human_label": labels,
        }
    )


def _complete(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    missing = {name: pd.Series(np.nan, index=frame.index) for name in columns if name not in frame.columns}
    complete = frame.assign(**missing)
    complete["human_n"] = complete["human_n"].fillna(0)
    for name in set(columns) & set(_COUNTS):
        complete[name] = complete[name].astype("Int64")
    label = complete["human_label"].astype(object)
    if label.notna().any():
        complete["human_label"] = label.where(label.notna(), UNDECIDED)
    else:
        complete["human_label"] = label.where(label.notna(), None)
    return complete
