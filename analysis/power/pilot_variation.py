"""Effects of a pilot, their variation over participants and items, and the power of a replication."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..effects.contrast_models import least_groups_df
from ..effects.five_analyses import contrast_rows
from ..errors import BadInput
from ..mixed_models.linear import CROSSED, Random, mixed_model
from ..mixed_models.structures import supported_slopes
from ..rows import tasks
from .exact import ALPHA
from .two_way import Components, draw_tests, plan_strata

MIXED_TEST = "mixed model over participants and items, as many items as in the pilot"
_UNITS = ("participant", "item")


def pilot_effects(
    judgments: pd.DataFrame, *, by: str = "phenomenon", transform: str = "z"
) -> tuple[pd.DataFrame, str]:
    """Estimate each contrast's effect and its variation, on the scale of the analysis; return the task too.

    Notes
    -----
    ``phenomenon``, ``effect``, ``ci_low``, ``ci_high``, variances ``participant_effect``, ``item_effect`` and
    ``residual``, ``n_participants``, ``n_items`` and ``trials`` (judgments per participant). Ratings in z,
    yes-no in shares of yes (a linear model), choices in shares less one half. Contrasts
    without a mixed model, or that fewer than two participants judged on both sides, are left out;
    ``attrs["left_out"]`` lists them with the reason.

    References
    ----------
    Westfall, Kenny & Judd (2014), Journal of Experimental Psychology: General 143.
    """
    require_columns(judgments, "participant", "value")
    names = sorted({str(name) for name in tasks(judgments).dropna().unique()})
    if len(names) != 1:
        raise BadInput(f"the judgments are of {len(names)} tasks.", column="task", remedy="Give one task.")
    rows = [
        {"phenomenon": name, **_contrast_row(part, is_choice=task == "forced_choice")}
        for name, task, part in contrast_rows(judgments, by=by, transform=transform)
    ]
    effects = pd.DataFrame([row for row in rows if "reason" not in row])
    effects.attrs["left_out"] = [row for row in rows if "reason" in row]
    return effects, names[0]


def _contrast_row(rows: pd.DataFrame, *, is_choice: bool) -> dict[str, Any]:
    fixed: tuple[str, ...]
    random: tuple[Random, ...]
    slope_names: tuple[str, ...]
    if is_choice:
        coded, fixed, term = rows.assign(outcome=rows["score"] - 0.5), (), "intercept"
        random, slope_names = CROSSED, _UNITS
    else:
        coded = rows.assign(outcome=rows["score"], condition=(rows["expected"] == "acceptable") - 0.5)
        if (coded.groupby("participant")["condition"].nunique() > 1).sum() < 2:
            return {"reason": "fewer than two participants judged both sides"}
        fixed, term = ("condition",), "condition"
        random = (*CROSSED, *supported_slopes(coded, fixed))
        slope_names = tuple(f"{unit}:condition" for unit in _UNITS)
    fit = mixed_model(coded, outcome="outcome", fixed=fixed, random=random)
    if not fit.usable:
        return {"reason": f"the mixed model is not estimable ({fit.status})"}
    n_participants = rows["participant"].nunique()
    return {
        "effect": fit[term].estimate,
        "ci_low": fit[term].ci_low,
        "ci_high": fit[term].ci_high,
        "participant_effect": fit.variances.get(slope_names[0], np.nan),
        "item_effect": fit.variances.get(slope_names[1], np.nan),
        "residual": fit.variances["residual"],
        "n_participants": n_participants,
        "n_items": rows["item"].nunique(),
        "trials": len(rows) / n_participants,
    }


def pooled_variation(effects: pd.DataFrame) -> dict[str, float]:
    """Return the SDs of residual, participants and items: roots of the mean variances of the contrasts.

    Variances that no contrast could estimate are part of the residual and count as 0.
    """
    columns = ("residual", "participant_effect", "item_effect")
    return {name: float(np.sqrt(np.nan_to_num(effects[name].mean()))) for name in columns}


def replication_power(
    effects: pd.DataFrame, task: str, sizes: Sequence[int], *, draws: int, seed: int = 0, alpha: float = ALPHA
) -> pd.DataFrame:
    """Compute the power of each contrast at its estimate, with the pooled variation and the pilot's items.

    Notes
    -----
    ``phenomenon``, ``n``, ``power``, ``wrong_direction``, ``mc_error``, ``n_pilot`` (participants who judged
    the contrast), ``pilot_low`` and ``pilot_high``: power at the ends of the effect's 95 % interval.
    Variation is pooled, because that of one contrast is known poorly from a few items.
    """
    variation, rows = pooled_variation(effects), []
    for n in sizes:
        for place, row in enumerate(effects.to_dict("records")):
            values = [
                row["effect"] if row[name] is None else row[name] for name in ("effect", "ci_low", "ci_high")
            ]
            (right, wrong), (low, _), (high, _) = (
                _detections(
                    Components(effect=value, **variation),
                    row,
                    n,
                    task=task,
                    draws=draws,
                    rng=np.random.default_rng([seed, n, place]),
                    alpha=alpha,
                )
                for value in values
            )
            rows.append(
                {
                    "phenomenon": row["phenomenon"],
                    "n": n,
                    "power": right,
                    "wrong_direction": wrong,
                    "pilot_low": low,
                    "pilot_high": high,
                    "mc_error": float(np.sqrt(right * (1 - right) / draws)),
                    "n_pilot": row["n_participants"],
                }
            )
    return pd.DataFrame(rows)


def _detections(
    components: Components,
    row: dict[Any, Any],
    n: int,
    *,
    task: str,
    draws: int,
    rng: np.random.Generator,
    alpha: float,
) -> tuple[float, float]:
    """Return the shares of studies of n participants that are significant in either direction."""
    items = int(row["n_items"])
    test = "choice" if task == "forced_choice" else "t"
    strata = plan_strata(components, participants=n, items=items, judgments=n * row["trials"], test=test)
    df = least_groups_df(n, items) if task == "yes_no" else None
    estimate, p, _ = draw_tests(strata, size=draws, rng=rng, is_capped=test == "choice", df=df)
    is_significant = p < alpha
    right, wrong = is_significant & (estimate > 0), is_significant & (estimate < 0)
    return float(right.mean()), float(wrong.mean())
