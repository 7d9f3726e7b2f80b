"""Closer to a language model than to people."""

import numpy as np
import pandas as pd
import scipy

from analysis.joint_groups import joint_codes
from analysis.quality.base import answered, measured, session_codes
from analysis.quality.leave_one_out import LEAST_ITEMS, beside_others, correlations
from analysis.rows import Floats, column_or_blank, group_codes
from analysis.undecided import is_undecided

NAME, VERSION, LABEL = "model_agreement", 1, "closer to a model than to people"
LEAST_R = 0.5
LEAST_LEAD = 0.1
LEAST_SPLIT = 10
LEVEL = 0.01


def model_agreement(
    judgments: pd.DataFrame, scores: pd.DataFrame, *, pairs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Flag sessions that follow a model's scores more closely than they follow other people.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
    scores : DataFrame
        ``sentence_id`` and one column per model.
    pairs : DataFrame, optional
        ``pair_id``, ``good_id``, ``bad_id``; needed for forced choice.

    Returns
    -------
    DataFrame indexed by session
        ``value``: ratings and yes-no, r with the model minus r with the means of others; forced choice, the
        share of trials decided the model's way where model and majority of others differ. Of several
        models the highest.

    Notes
    -----
    Ratings: flagged where r with the model is at least .5 and leads by more than .1 over at least 20
    sentences. Forced choice: flagged where the model's way was taken in at least 10 disputed trials so
    often that a one-sided sign test gives p < .01. A hint that a model may have been asked. It is unproven:
    for review only, and no plan can exclude by it.
    """
    best: pd.DataFrame | None = None
    for model in [str(name) for name in scores.columns if name != "sentence_id"]:
        table = pd.Series(scores[model].to_numpy(dtype=np.float64), index=scores["sentence_id"].astype(str))
        table = table[~table.index.duplicated()]
        rated = _rated(judgments, table, model)
        chosen = _chosen(judgments, table, model, pairs=pairs)
        found = pd.concat([part for part in (rated, chosen) if len(part)] or [rated])
        best = found if best is None else _higher(best, found)
    return best if best is not None else _nothing()


def _nothing() -> pd.DataFrame:
    none = np.zeros(0)
    return measured([], none, seen=none.astype(bool), flagged=none.astype(bool), reason=str)


def _higher(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Of two models' measures the flagged one of each session, else the higher."""
    both = pd.concat([one, other]).sort_values(["flagged", "value"], ascending=False, kind="stable")
    return both[~both.index.duplicated()].sort_index()


def _rated(judgments: pd.DataFrame, table: pd.Series, model: str) -> pd.DataFrame:
    beside = beside_others(judgments)
    score = _looked_up(judgments, "sentence_id", table)
    rows = beside.rows & ~np.isnan(score)
    n_sessions = len(beside.labels)
    with_model, n = correlations(rows, beside.own, score, session=beside.session, n_sessions=n_sessions)
    with_people, _ = correlations(
        rows, beside.own, beside.others, session=beside.session, n_sessions=n_sessions
    )
    lead = with_model - with_people
    return measured(
        beside.labels,
        lead,
        seen=(n >= LEAST_ITEMS) & ~np.isnan(lead),
        flagged=(lead > LEAST_LEAD) & (with_model >= LEAST_R),
        reason=lambda one: (
            f"r = {with_model[one]:.2f} with {model}, {with_people[one]:.2f} with people; "
            "unproven, for review"
        ),
    )


def _chosen(
    judgments: pd.DataFrame, table: pd.Series, model: str, *, pairs: pd.DataFrame | None
) -> pd.DataFrame:
    """In trials where model and majority of others differ: how often was the model followed?"""
    if pairs is None:
        return _nothing()
    margin = pairs["good_id"].astype(str).map(table) - pairs["bad_id"].astype(str).map(table)
    by_pair = pd.Series(margin.to_numpy(dtype=np.float64), index=pairs["pair_id"].astype(str))
    session, labels = session_codes(judgments)
    rows, values = answered(judgments, of=("forced_choice",))
    margins = _looked_up(judgments, "pair_id", by_pair[~by_pair.index.duplicated()])
    others = _others_share(judgments, rows, values)
    chose = rows & np.isin(values, (0.0, 1.0)) & ~is_undecided(judgments)
    disputed = chose & (np.sign(margins) * (others - 0.5) < 0)
    n = np.bincount(session[disputed], minlength=len(labels))
    with_model = np.bincount(session[disputed & ((margins > 0) == (values == 1))], minlength=len(labels))
    share = with_model / np.maximum(n, 1)
    p = np.asarray(scipy.stats.binom.sf(with_model - 1, n, 0.5), dtype=np.float64)
    return measured(
        labels,
        share,
        seen=n >= LEAST_SPLIT,
        flagged=p < LEVEL,
        reason=lambda one: (
            f"where {model} and most people differ, the model was followed in {with_model[one]} of {n[one]} "
            "trials; unproven, for review"
        ),
    )


def _others_share(judgments: pd.DataFrame, rows: np.ndarray, values: Floats) -> Floats:
    """Share of the other participants that chose the expected member; NaN without others."""
    pair, _ = group_codes(column_or_blank(judgments, "pair_id"))
    person, _ = group_codes(column_or_blank(judgments, "participant"))
    mine, _, of_pair = joint_codes(person, pair)
    weight, used = np.where(rows, values, 0.0), rows.astype(float)
    total, n = (np.bincount(pair, weights=what) for what in (weight, used))
    own_total, own_n = (np.bincount(mine, weights=what) for what in (weight, used))
    left = (n[of_pair] - own_n)[mine]
    share: Floats = np.where(left > 0, (total[of_pair] - own_total)[mine] / np.maximum(left, 1), np.nan)
    return share


def _looked_up(judgments: pd.DataFrame, column: str, table: pd.Series) -> Floats:
    codes, names = group_codes(column_or_blank(judgments, column))
    by_name: Floats = table.reindex(names).to_numpy(dtype=np.float64)
    return by_name[codes]
