"""Rasch and two-parameter models of pairs, participants and models on one scale."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from ...aggregation.item_response import ItemResponse, estimate_abilities, fit_item_response
from ...aggregation.undecided import is_undecided
from ...rows import none_if_nan
from ...scales import zscore_by_participant
from ..ceilings.responses import counted_task, row_units, target_mask
from ..criteria import FloatArray
from ..pairs import PairTable

FEWEST_PARTICIPANTS = 10
FEWEST_FOR_SLOPES = 200  # participants; with fewer the discriminations of items are mostly noise
Z95 = 1.959963984540054
REASONS = {
    "no_judgments": "There are no judgments by participant.",
    "no_choices": "No participant chose between the members of a pair, or rated both of them.",
    "too_few": f"Fewer than {FEWEST_PARTICIPANTS} participants, or than two pairs with answers both ways.",
    "not_converged": "The model did not converge.",
    "too_many_items": "So many pairs have no standard errors.",
    "too_few_for_slopes": f"Discriminations of single pairs need {FEWEST_FOR_SLOPES} participants or more.",
}
"""What each status means; ``ok`` needs no sentence."""


def ability_scale(table: PairTable, judgments: pd.DataFrame | None) -> dict[str, Any]:
    """Place pairs, participants and language models on one scale.

    Notes
    -----
    ``basis`` (what the answers are), ``participants``, ``pairs``, ``constant`` (pairs left out because
    all participants agree on them), ``discrimination`` with its interval, ``log_likelihood``, ``items``
    (``pair_id``, ``n``, ``share``, ``difficulty``, ``se``, ``ci_low``, ``ci_high``), ``people``
    (``participant``, ``n``, ``right``, ``ability``, ``se``), ``models`` (``model``, ``n``, ``right``,
    ``ability``, ``se``, ``ci_low``, ``ci_high``, ``above``: share of participants whose ability is lower),
    ``two_parameter`` (``status``, ``log_likelihood``, ``chi2``, ``df``, ``p`` against Rasch's model,
    ``items`` with ``difficulty`` and ``discrimination``) and ``status``.

    An answer is right where the acceptable member is chosen; of ratings, where the same participant rated it
    above the other (equal ratings are wrong). Items are fitted to participants alone by marginal maximum
    likelihood; their abilities are normal with mean 0 and SD 1, which is the unit of the scale. Models take
    the test afterwards: a model is right where its score of the acceptable member is higher. Abilities are
    Warm's weighted likelihood estimates, which need no distribution.

    References
    ----------
    Rasch (1960), *Probabilistic Models for Some Intelligence and Attainment Tests*. Bock & Aitkin (1981),
    Psychometrika 46. Warm (1989), Psychometrika 54. Lalor, Wu & Yu (2016), EMNLP, for models as test takers.
    """
    empty: dict[str, Any] = {
        "basis": "", "participants": 0, "pairs": 0, "constant": 0, "discrimination": None, "ci_low": None,
        "ci_high": None, "log_likelihood": None, "items": [], "people": [], "models": [],
        "two_parameter": None,
    }  # fmt: skip
    if judgments is None:
        return empty | {"status": "no_judgments"}
    basis, answers = _answers(table, judgments)
    if not len(answers):
        return empty | {"status": "no_choices"}
    share = answers.mean()
    varies = (share > 0) & (share < 1)
    sizes = {"basis": basis, "participants": len(answers), "pairs": int(varies.sum())}
    sizes["constant"] = int((~varies).sum())
    answers = answers.loc[:, varies]
    if len(answers) < FEWEST_PARTICIPANTS or answers.shape[1] < 2:
        return empty | sizes | {"status": "too_few"}
    values = answers.to_numpy(dtype=np.float64)
    fit = fit_item_response(values)
    if fit.status not in ("ok", "too_many_items"):
        return empty | sizes | {"status": fit.status}
    slope, error = float(fit.discrimination[0]), none_if_nan(fit.discrimination_se[0])
    people = _takers(values, fit)
    return empty | sizes | {
        "discrimination": slope,
        "ci_low": None if error is None else slope - Z95 * error,
        "ci_high": None if error is None else slope + Z95 * error,
        "log_likelihood": fit.log_likelihood,
        "items": _items(answers, fit),
        "people": [
            {"participant": str(name), **row} for name, row in zip(answers.index, people, strict=True)
        ],
        "models": _models(table, answers, fit, [row["ability"] for row in people]),
        "two_parameter": _two_parameter(answers, fit),
        "status": fit.status,
    }  # fmt: skip


def _answers(table: PairTable, judgments: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return right (1) and wrong (0) answers, participants × pairs, each participant once for a pair."""
    if counted_task(judgments) == "forced_choice":
        rows = judgments[target_mask(judgments, "forced_choice")]
        rows = rows.assign(pair_id=row_units(rows, table.pairs, task="forced_choice"))
        rows = rows[~is_undecided(rows)].dropna(subset=["pair_id", "value"])
        right = rows.assign(participant=rows["participant"].astype(str), right=rows["value"].astype(float))
        shares = right.groupby(["participant", "pair_id"])["right"].mean().unstack()
        return "choices", (shares > 0.5).astype(float).where(shares.notna() & (shares != 0.5))
    is_yes_no = counted_task(judgments) == "yes_no"
    rows = judgments[target_mask(judgments, "yes_no")] if is_yes_no else judgments.reset_index(drop=True)
    value = rows["value"].astype(float) if is_yes_no else zscore_by_participant(rows)
    keys = [rows["participant"].astype(str), rows["sentence_id"].astype(str)]
    ratings = value.groupby(keys).mean().unstack()
    good, bad = (
        ratings.reindex(columns=table.pairs[side]).to_numpy(dtype=np.float64)
        for side in ("good_id", "bad_id")
    )
    is_rated = ~np.isnan(good) & ~np.isnan(bad)
    right_of = pd.DataFrame(
        np.where(is_rated, (good > bad).astype(float), np.nan),
        index=ratings.index,
        columns=table.pairs["pair_id"],
    )
    return "answers to both members", right_of.dropna(how="all").dropna(axis=1, how="all")


def _takers(values: FloatArray, fit: ItemResponse) -> list[dict[str, Any]]:
    ability, error = estimate_abilities(values, fit)
    n, right = (~np.isnan(values)).sum(axis=1), np.nansum(values, axis=1)
    return [
        {
            "n": int(n[place]), "right": float(right[place]), "ability": none_if_nan(ability[place]),
            "se": none_if_nan(error[place]), "ci_low": none_if_nan(ability[place] - Z95 * error[place]),
            "ci_high": none_if_nan(ability[place] + Z95 * error[place]),
        }
        for place in range(len(values))
    ]  # fmt: skip


def _items(answers: pd.DataFrame, fit: ItemResponse) -> list[dict[str, Any]]:
    counts, shares = answers.notna().sum(), answers.mean()
    reach = Z95 * fit.difficulty_se
    return [
        {
            "pair_id": str(name), "n": int(counts[name]), "share": float(shares[name]),
            "difficulty": float(fit.difficulty[place]), "se": none_if_nan(fit.difficulty_se[place]),
            "ci_low": none_if_nan(fit.difficulty[place] - reach[place]),
            "ci_high": none_if_nan(fit.difficulty[place] + reach[place]),
        }
        for place, name in enumerate(answers.columns)
    ]  # fmt: skip


def _models(
    table: PairTable, answers: pd.DataFrame, fit: ItemResponse, people: list[float | None]
) -> list[dict[str, Any]]:
    prefers = table.prefers_good.set_axis(table.pairs["pair_id"]).reindex(answers.columns)
    abilities = np.array([ability for ability in people if ability is not None])
    rows = _takers(prefers.to_numpy(dtype=np.float64).T, fit)
    for row in rows:
        is_known = row["ability"] is not None and len(abilities)
        row["above"] = float((abilities < row["ability"]).mean()) if is_known else None
    return [{"model": name, **row} for name, row in zip(table.models, rows, strict=True)]


def _two_parameter(answers: pd.DataFrame, rasch: ItemResponse) -> dict[str, Any]:
    empty: dict[str, Any] = {"log_likelihood": None, "chi2": None, "df": None, "p": None, "items": []}
    if len(answers) < FEWEST_FOR_SLOPES:
        return empty | {"status": "too_few_for_slopes"}
    fit = fit_item_response(answers.to_numpy(dtype=np.float64), has_slopes=True)
    if fit.status not in ("ok", "too_many_items"):
        return empty | {"status": fit.status}
    chi2, df = max(2 * (fit.log_likelihood - rasch.log_likelihood), 0.0), answers.shape[1] - 1
    slopes = zip(fit.discrimination, fit.discrimination_se, strict=True)
    items = [
        row | {"discrimination": float(slope), "discrimination_se": none_if_nan(error)}
        for row, (slope, error) in zip(_items(answers, fit), slopes, strict=True)
    ]
    return {
        "log_likelihood": fit.log_likelihood, "chi2": chi2, "df": df,
        "p": float(scipy.stats.chi2.sf(chi2, df)), "items": items, "status": fit.status,
    }  # fmt: skip
