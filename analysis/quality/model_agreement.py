"""Signal: answers closer to a language model than to other participants."""

import numpy as np
import pandas as pd
import scipy

from ..aggregation.undecided import is_undecided
from ..rows import Floats, column_or_blank, group_codes, joint_codes
from .base import answered_rows, session_codes, signal_frame
from .leave_one_out import MIN_ITEMS, correlations, means_of_others

NAME, VERSION, LABEL = "model_agreement", 1, "closer to a model than to other participants"
MIN_R = 0.5
MIN_LEAD = 0.1
MIN_DISPUTED = 10
LEVEL = 0.01


def model_agreement(
    judgments: pd.DataFrame, scores: pd.DataFrame, *, pairs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Flag sessions that follow a model's scores more closely than the other participants.

    Notes
    -----
    ``value``: ratings and yes-no, r with the model minus r with the means of others; forced choice, the
    share of trials that follow the model among those where model and majority of others differ. The
    highest of several models.

    Ratings: flagged where r with the model is at least .5 and leads by more than .1 over at least 20
    sentences. Forced choice: flagged if the model was followed in at least 10 disputed trials so
    often that a one-sided sign test gives p < .01. The participant may have used a model; the signal is not
    validated, for review only, and no plan can exclude by it.
    """
    best: pd.DataFrame | None = None
    for model in [str(name) for name in scores.columns if name != "sentence_id"]:
        table = pd.Series(scores[model].to_numpy(dtype=np.float64), index=scores["sentence_id"].astype(str))
        table = table[~table.index.duplicated()]
        rated = _rating_signal(judgments, table, model)
        chosen = _choice_signal(judgments, table, model, pairs=pairs)
        measure = pd.concat([part for part in (rated, chosen) if len(part)] or [rated])
        best = measure if best is None else _stronger_signal(best, measure)
    return best if best is not None else _empty_frame()


def _empty_frame() -> pd.DataFrame:
    none = np.zeros(0)
    return signal_frame([], none, has_data=none.astype(bool), flagged=none.astype(bool), reason=str)


def _stronger_signal(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Combine two models' measures: for each session the flagged one, else the higher."""
    combined = pd.concat([first, second]).sort_values(["flagged", "value"], ascending=False, kind="stable")
    return combined[~combined.index.duplicated()].sort_index()


def _rating_signal(judgments: pd.DataFrame, table: pd.Series, model: str) -> pd.DataFrame:
    beside = means_of_others(judgments)
    score = _values_by_name(judgments, "sentence_id", table)
    rows = beside.rows & ~np.isnan(score)
    n_sessions = len(beside.labels)
    with_model, n = correlations(rows, beside.values, score, session=beside.session, n_sessions=n_sessions)
    with_people, _ = correlations(
        rows, beside.values, beside.means, session=beside.session, n_sessions=n_sessions
    )
    lead = with_model - with_people
    return signal_frame(
        beside.labels,
        lead,
        has_data=(n >= MIN_ITEMS) & ~np.isnan(lead),
        flagged=(lead > MIN_LEAD) & (with_model >= MIN_R),
        reason=lambda row: (
            f"r = {with_model[row]:.2f} with {model}, {with_people[row]:.2f} with participants; "
            "not validated, for review"
        ),
    )


def _choice_signal(
    judgments: pd.DataFrame, table: pd.Series, model: str, *, pairs: pd.DataFrame | None
) -> pd.DataFrame:
    """Measure how often the model was followed where it differs from the majority of others."""
    if pairs is None:
        return _empty_frame()
    margin = pairs["good_id"].astype(str).map(table) - pairs["bad_id"].astype(str).map(table)
    by_pair = pd.Series(margin.to_numpy(dtype=np.float64), index=pairs["pair_id"].astype(str))
    session, labels = session_codes(judgments)
    rows, values = answered_rows(judgments, of=("forced_choice",))
    margins = _values_by_name(judgments, "pair_id", by_pair[~by_pair.index.duplicated()])
    others_share = _others_share(judgments, rows, values)
    chose = rows & np.isin(values, (0.0, 1.0)) & ~is_undecided(judgments)
    disputed = chose & (np.sign(margins) * (others_share - 0.5) < 0)
    n = np.bincount(session[disputed], minlength=len(labels))
    with_model = np.bincount(session[disputed & ((margins > 0) == (values == 1))], minlength=len(labels))
    share = with_model / np.maximum(n, 1)
    p = np.asarray(scipy.stats.binom.sf(with_model - 1, n, 0.5), dtype=np.float64)
    return signal_frame(
        labels,
        share,
        has_data=n >= MIN_DISPUTED,
        flagged=p < LEVEL,
        reason=lambda row: (
            f"where {model} and most participants differ, the model was followed in {with_model[row]} of "
            f"{n[row]} trials; not validated, for review"
        ),
    )


def _others_share(judgments: pd.DataFrame, rows: np.ndarray, values: Floats) -> Floats:
    """Compute the share of other participants who chose the expected member; NaN without others."""
    pair, _ = group_codes(column_or_blank(judgments, "pair_id"))
    person, _ = group_codes(column_or_blank(judgments, "participant"))
    cell, _, of_pair = joint_codes(person, pair)
    summands, is_used = np.where(rows, values, 0.0), rows.astype(float)
    total, n = (np.bincount(pair, weights=weights) for weights in (summands, is_used))
    own_total, own_n = (np.bincount(cell, weights=weights) for weights in (summands, is_used))
    left = (n[of_pair] - own_n)[cell]
    share: Floats = np.where(left > 0, (total[of_pair] - own_total)[cell] / np.maximum(left, 1), np.nan)
    return share


def _values_by_name(judgments: pd.DataFrame, column: str, table: pd.Series) -> Floats:
    codes, names = group_codes(column_or_blank(judgments, column))
    by_name: Floats = table.reindex(names).to_numpy(dtype=np.float64)
    return by_name[codes]
