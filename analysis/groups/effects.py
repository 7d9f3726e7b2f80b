"""Effects by group of participants, and their difference as an interaction in a mixed model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..effects.contrast_models import term_result
from ..effects.contrasts import paired_contrast
from ..effects.five_analyses import contrast_rows, rating_contrast
from ..mixed_models.linear import mixed_model
from ..mixed_models.logistic import logistic_mixed_model
from ..mixed_models.structures import fit_largest, supported_slopes
from ..multiple_tests import with_adjusted
from .grouping import Grouping

REASONS = {
    "no_data": "one of the groups judged no sentence of this contrast",
    "too_few": "there are too few participants, items or judgments for a mixed model",
    "no_variation": "all answers are alike, or a group judged one side of the contrast only",
    "not_converged": "the mixed model did not converge",
    "separated": "all answers of a group agree, so that the estimate is infinite",
}


def group_effects(
    judgments: pd.DataFrame, grouping: Grouping, *, by: str = "phenomenon", transform: str = "z"
) -> list[dict[str, Any]]:
    """Compare the effect of every contrast in each group with that in the reference.

    Notes
    -----
    One row for each contrast and group other than the reference: the effect in both (difference of
    participants' means, choices: share - 1/2; t interval), and ``estimate``, the effect in the group minus
    that in the reference, in a mixed model. Ratings and yes-no: score ~ condition × group, both coded ±½, so
    that the product is the difference; choices: choice ~ group. Random slopes: those that the data support,
    without correlations, of the condition by participant and of all three by item. Yes-no: logistic, in
    logits. ``p_holm`` and ``p_bh`` are over all rows.

    A difference in z says nothing about how groups use the scale: z removes each participant's mean and
    spread.

    References
    ----------
    Barr (2013), Frontiers in Psychology 4:328 (slopes of interactions).
    """
    rows = []
    for name, task, part in contrast_rows(judgments, by=by, transform=transform):
        part = part.assign(group=part["participant"].astype(str).map(grouping.of_participant))
        sides = {
            value: _effect(part[part["group"] == value], task=task)
            for value in (grouping.reference, *grouping.others)
        }
        for value in grouping.others:
            pair = part[part["group"].isin([grouping.reference, value])]
            rows.append(
                {
                    by: name,
                    "task": task,
                    "group": value,
                    "reference": grouping.reference,
                    "effect": sides[value],
                    "effect_reference": sides[grouping.reference],
                    **_difference(pair, value, task=task),
                }
            )
    return with_adjusted(rows, [row["p"] for row in rows])


def _effect(rows: pd.DataFrame, *, task: str) -> dict[str, Any]:
    """Return the effect in one group with its t interval over participants."""
    if task == "forced_choice":
        shares = rows.groupby("participant", observed=True)["score"].mean().to_numpy(dtype=np.float64)
        tested = paired_contrast(shares, np.full(len(shares), 0.5))
    else:
        tested, _ = rating_contrast(rows)
    return {
        "estimate": tested.mean_difference,
        "ci_low": tested.ci_low,
        "ci_high": tested.ci_high,
        "n_participants": int(rows["participant"].nunique()),
        "n": len(rows),
    }


def _difference(rows: pd.DataFrame, group: str, *, task: str) -> dict[str, Any]:
    coded = rows.assign(outcome=rows["score"], group=(rows["group"] == group) - 0.5)
    term, fixed = "group", ["group"]
    if task == "forced_choice":
        coded["outcome"] = coded["outcome"] - 0.5
    else:
        coded["condition"] = (coded["expected"].astype(object) == "acceptable") - 0.5
        coded["difference"] = coded["condition"] * coded["group"]
        term, fixed = "difference", ["condition", "group", "difference"]
    model = logistic_mixed_model if task == "yes_no" else mixed_model
    fit = fit_largest(
        lambda terms, start: model(coded, outcome="outcome", fixed=fixed, random=terms, start=start),
        coded,
        # By participant the product is the condition again: the group does not vary within a participant.
        supported=(
            *supported_slopes(
                coded, [name for name in fixed if name == "condition"], factors=["participant"]
            ),
            *supported_slopes(coded, fixed, factors=["item"]),
        ),
        has_correlations=False,
    )
    names: Sequence[str] = ("exact_estimate", "exact_se")
    result = {name: value for name, value in term_result(fit, term).items() if name not in names}
    status = "no_data" if rows["group"].nunique() < 2 else fit.status
    return result | {"status": status, "reason": "" if fit.usable else REASONS.get(status, status)}
