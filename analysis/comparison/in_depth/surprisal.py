"""Ratings modelled by a language model's surprisal, with length, frequency and trial order as covariates."""

from typing import Any

import numpy as np
import pandas as pd

from ...mixed_models.linear import MixedFit, mixed_model
from ...mixed_models.structures import fit_largest
from ...multiple_tests import with_adjusted
from ...rows import column_or_blank, is_kind, merge_answers, name_items_apart
from ...scales import zscore_by_participant
from ..ceilings.responses import UNIT, counted_task
from ..intervals import pair_clusters
from ..pairs import PairTable
from .linking import REASONS as LINKING_REASONS
from .linking import group_models, sentence_counts

TERMS = {
    "surprisal": "−log p / tokens",
    "length": "tokens",
    "frequency": "log p_u / tokens",
    "order": "place of the trial in the session",
}
REASONS = {
    "no_ratings": "Participants gave no ratings on a scale; this model is for ratings.",
    "no_logprob": LINKING_REASONS["no_logprob"],
    "no_length": LINKING_REASONS["no_length"],
    "no_data": "No rated sentence has a score of this model.",
    "too_few": "Too few participants, items or ratings for the model.",
    "no_variation": "The ratings or the surprisals do not vary, or one predictor follows from the others.",
    "not_converged": "The model did not converge: there are no estimates.",
    "singular": "A variance is estimated as 0. That of participants' intercepts always is with z, whose mean "
    "is 0 for each participant.",
}
"""What each status of a row means; ``ok`` needs no sentence."""
LACKING = {
    "length": "Without length: all rated sentences have the same number of tokens.",
    "frequency": "Without frequency: the unigram probabilities of this model are not known, or do not vary.",
    "order": "Without trial order: the judgments have no place of the trial in its session, or all the same.",
}
COLLINEAR = 10.0  # variance inflation above which a slope is told apart from the other predictors' poorly


def surprisal_models(
    table: PairTable,
    models: pd.DataFrame,
    judgments: pd.DataFrame | None,
    counts: pd.DataFrame | None = None,
) -> list[dict[str, Any]]:
    """Fit participants' ratings by the surprisal of sentences, for each model.

    ``models`` and ``counts`` are as for :func:`obelus.comparison.in_depth.linking.linking_functions`.

    Notes
    -----
    A row per model: ``model``, ``n`` (ratings), ``participants``, ``items``, ``sentences``, ``terms``
    (``term``, ``estimate``, ``se``, ``df``, ``statistic``, ``p``, ``ci_low``, ``ci_high``), ``p_holm`` and
    ``p_bh`` (of surprisal, over the models), ``left_out`` (covariates that are not known or do not vary),
    ``sd`` (of each predictor, in its own unit), ``vif`` (variance inflation of surprisal), ``structure``,
    ``path``, ``formula`` and ``status``.

    z_ui = b0 + b1 surprisal + b2 length + b3 frequency + b4 order + random effects of participants and items,
    with slopes of surprisal where the data support them (REML, Satterthwaite). Ratings are z within
    participants (ddof 1; repeated ones are averaged), predictors are (x - mean) / SD over the rated rows, so
    that b1 is the change of z for one SD of surprisal.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1); Barr et al. (2013), Journal of Memory and
    Language 68; Lau, Clark & Lappin (2017), Cognitive Science 41.
    """
    ratings = _ratings(table, judgments)
    rows = [
        {"model": name, **_model_row(ratings, sentence_counts(table, columns, counts))}
        for name, columns in group_models(models).items()
    ]
    ps = [surprisal_term(row).get("p") for row in rows]
    return with_adjusted(rows, ps)


def surprisal_term(row: dict[str, Any]) -> dict[str, Any]:
    """Return the estimate of surprisal of a row; empty without one.

    Examples
    --------
    >>> surprisal_term({"terms": []})
    {}
    """
    return next((term for term in row["terms"] if term["term"] == "surprisal"), {})


def _ratings(table: PairTable, judgments: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return z, participant, item, sentence and trial order of rated targets; None without ratings."""
    if judgments is None or counted_task(judgments) in UNIT:
        return None
    judgments = name_items_apart(judgments.reset_index(drop=True))
    rows = judgments.assign(z=zscore_by_participant(judgments))
    rows = rows[is_kind(rows, ("target",)) & rows["z"].notna().to_numpy()]
    rows, z = merge_answers(rows, rows["z"].to_numpy(dtype=float), unit="sentence_id")
    sentence = rows["sentence_id"].astype(str)
    families = pair_clusters(table.pairs[["good_id", "bad_id"]])
    family = pd.concat([
        pd.Series(families.to_numpy(), index=table.pairs[side]) for side in ("good_id", "bad_id")
    ])  # fmt: skip
    family = family[~family.index.duplicated()]
    item = column_or_blank(rows, "item").astype(str)
    return pd.DataFrame({
        "value": z,
        "participant": rows["participant"].astype(str).to_numpy(),
        "sentence_id": sentence.to_numpy(),
        "item": item.where(item != "", sentence.map(family).fillna(sentence)).to_numpy(),
        "order": pd.to_numeric(column_or_blank(rows, "position"), errors="coerce").to_numpy(dtype=float),
    })  # fmt: skip


NOTHING: dict[str, Any] = {
    "n": 0, "participants": 0, "items": 0, "sentences": 0, "terms": [], "left_out": [], "sd": {},
    "vif": None, "structure": "", "path": [], "formula": "",
}  # fmt: skip


def _model_row(ratings: pd.DataFrame | None, counts: pd.DataFrame) -> dict[str, Any]:
    if ratings is None:
        return NOTHING | {"status": "no_ratings"}
    for column, status in (("logprob", "no_logprob"), ("n_tokens", "no_length")):
        if not counts[column].notna().any():
            return NOTHING | {"status": status}
    n_tokens = counts["n_tokens"]
    of_sentence = pd.DataFrame({
        "surprisal": -counts["logprob"] / n_tokens,
        "length": n_tokens,
        "frequency": counts["unigram_logprob"] / n_tokens,
    })  # fmt: skip
    rows = ratings.join(of_sentence, on="sentence_id")
    rows = rows[rows["surprisal"].notna()]
    available = [name for name in TERMS if name == "surprisal" or rows[name].notna().any()]
    rows = rows.dropna(subset=available).reset_index(drop=True)
    sizes = {
        "n": len(rows),
        "participants": int(rows["participant"].nunique()),
        "items": int(rows["item"].nunique()),
        "sentences": int(rows["sentence_id"].nunique()),
        "left_out": [name for name in TERMS if name not in available],
    }
    if not len(rows):
        return NOTHING | sizes | {"status": "no_data"}
    varying = [name for name in available if name == "surprisal" or rows[name].std() > 0]
    spread = {name: float(np.nan_to_num(rows[name].std())) for name in varying}
    sizes["left_out"] = [name for name in TERMS if name not in varying]
    if not spread["surprisal"]:
        return NOTHING | sizes | {"status": "no_variation" if len(rows) > 1 else "too_few"}
    coded = rows.assign(**{name: (rows[name] - rows[name].mean()) / spread[name] for name in varying})
    fit = fit_largest(
        lambda terms, start: mixed_model(coded, fixed=varying, random=terms, start=start),
        coded,
        slopes=("surprisal",),
    )
    return NOTHING | sizes | {"sd": spread, "vif": _inflation(coded, varying)} | _estimates(fit)


def _estimates(fit: MixedFit) -> dict[str, Any]:
    return {
        "terms": [dict(vars(estimate)) for estimate in fit.estimates.values()],
        "structure": fit.structure,
        "path": list(fit.path),
        "formula": fit.formula,
        "status": fit.status,
    }


def _inflation(rows: pd.DataFrame, used: list[str]) -> float | None:
    """Return the variance inflation of surprisal, 1 / (1 - R²) of its regression on the other predictors."""
    others = np.column_stack([np.ones(len(rows)), *(rows[name] for name in used[1:])])
    surprisal = rows["surprisal"].to_numpy()
    left = surprisal - others @ np.linalg.lstsq(others, surprisal)[0]
    share = float(left @ left) / float(surprisal @ surprisal)
    return 1 / share if share > 1e-12 else None
