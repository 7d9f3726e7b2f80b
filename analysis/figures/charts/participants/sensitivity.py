"""Sensitivity: the main result under each recipe of exclusion."""

import altair as alt
import pandas as pd

from ....aggregation.ratings import transform_ratings
from ....agreement.report import agreement_report
from ....columns import require_columns
from ....effects.contrasts import contrast
from ....errors import NotEnoughData
from ....exclusions.apply import apply_plan
from ....exclusions.plan import Plan
from ....exclusions.sensitivity import sensitivity
from ....rows import RATING_TASKS, is_kind
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import PASSED, caption, layer_charts

STEP = 30
DRAWS = 2_000
AGREEMENT, DIFFERENCE = "individual_agreement", "mean_difference"
TITLES = {
    AGREEMENT: "individual agreement, mean of item shares",
    DIFFERENCE: "acceptable − unacceptable, participants' z",
}


def sensitivity_frame(judgments: pd.DataFrame, plan: Plan, *, seed: int = 0) -> pd.DataFrame:
    """Return the main result under each recipe, with its interval over participants.

    Notes
    -----
    ``recipe``, ``participants``, ``judgments``, ``measure``, ``value`` (from
    :func:`obelus.exclusions.sensitivity.sensitivity`), ``ci_low``, ``ci_high``. Ratings: the mean
    difference over all contrasts with its t interval; other tasks: individual agreement with the
    participant bootstrap.
    """
    recipes = sensitivity(judgments, plan)
    is_rating = bool(set(Evidence(judgments=judgments).tasks) & set(RATING_TASKS))
    measure = DIFFERENCE if is_rating else AGREEMENT
    rows = []
    for row in recipes if len(plan.steps) != 1 else recipes[:2]:
        remaining = apply_plan(judgments, _variant(plan, row["recipe"], row["step"])).kept
        value, low, high = _difference(remaining) if is_rating else _agreement(remaining, seed=seed)
        name = {"none": "nothing excluded", "plan": plan.name}.get(row["recipe"], f"without {row['step']}")
        counts = {key: row[key] for key in ("participants", "judgments")}
        rows.append(
            {"recipe": name, **counts, "measure": measure, "value": value, "ci_low": low, "ci_high": high}
        )
    return pd.DataFrame(rows).astype({"value": float, "ci_low": float, "ci_high": float})


def _variant(plan: Plan, recipe: str, step: str) -> Plan:
    if recipe == "none":
        return Plan("none")
    return (
        plan if recipe == "plan" else Plan(plan.name, [other for other in plan.steps if other.name != step])
    )


def _agreement(remaining: pd.DataFrame, *, seed: int) -> tuple[float | None, float | None, float | None]:
    overall = agreement_report(remaining, seed=seed, draws=DRAWS)["overall"]
    return overall[AGREEMENT], overall["ci_low"], overall["ci_high"]


def _difference(remaining: pd.DataFrame) -> tuple[float | None, float | None, float | None]:
    if "expected" not in remaining.columns:
        return None, None, None
    scored = remaining.assign(score=transform_ratings(remaining, transform="z"))
    estimate = contrast(scored[is_kind(scored, ("target",))], value="score")
    return estimate.mean_difference, estimate.ci_low, estimate.ci_high


def sensitivity_figure(recipes: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a dot and an interval per recipe, with the number of remaining participants."""
    require_columns(recipes, "recipe", "participants", "judgments", "measure", "value", "ci_low", "ci_high")
    defined = recipes[recipes["value"].notna()]
    if not len(defined):
        raise NotEnoughData("no recipe leaves a judgment with an expected label.")
    is_share = str(defined["measure"].iloc[0]) == AGREEMENT
    measure = TITLES[str(defined["measure"].iloc[0])]
    names = [f"{row.recipe} (n={row.participants})" for row in defined.itertuples()]
    labelled = defined.assign(row=names)
    y = alt.Y("row:N", sort=names, title=None)
    form = "%" if is_share else ""
    x = alt.X(
        "value:Q",
        title=measure,
        scale=alt.Scale(zero=False, padding=10),
        axis=alt.Axis(format=form, tickCount=5) if form else alt.Axis(tickCount=5),
    )
    base = alt.Chart(labelled)
    ends = base.mark_rule(strokeWidth=2, color=PASSED).encode(x=alt.X("ci_low:Q"), x2="ci_high:Q", y=y)
    dots = base.mark_point(filled=True, size=70, color=PASSED, opacity=1).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("recipe:N"),
            alt.Tooltip("value:Q", format=".1%" if is_share else ".3f"),
            alt.Tooltip("participants:Q"),
            alt.Tooltip("judgments:Q"),
        ],
    )
    first = float(defined["value"].iloc[0])
    none = alt.Chart(pd.DataFrame({"none": [first]})).mark_rule(strokeDash=[4, 4]).encode(x="none:Q")
    spread = float(defined["value"].max() - defined["value"].min())
    spread_text = f"{100 * spread:.1f} points" if is_share else f"{spread:.3f}"
    title = caption(
        "Sensitivity to exclusions",
        f"{len(defined)} variants of the plan; {measure}, with 95 % intervals over participants; n: "
        f"participants that stay; dashed: nothing excluded. The variants differ by up to {spread_text}.",
        note,
    )
    return layer_charts([none, ends, dots], defined, height=alt.Step(STEP), title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    if evidence.judgments is None:
        raise NotEnoughData("there are no judgments.")
    table = sensitivity_frame(evidence.judgments, evidence.plan, seed=evidence.seed)
    return sensitivity_figure(table, note=evidence.note)


def _lacks_plan(evidence: Evidence) -> str:
    missing = lacks_task()(evidence)
    if missing:
        return missing
    return "" if evidence.plan.steps else "Nothing is excluded: choose a plan."


DRAWINGS = (
    Drawing(
        name="sensitivity",
        number=14,
        title="Sensitivity to exclusions",
        shows="A dot per recipe of exclusion, the headline number, with its interval",
        needs="an exclusion plan",
        about="study",
        lacking=_lacks_plan,
        draw=_draw,
    ),
)
