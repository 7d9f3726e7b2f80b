"""The outcomes of the five analyses by contrast, and effect sizes."""

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....effects.contrasts import d_z_interval
from ....effects.five_analyses import ANALYSES, OUTCOMES
from ....errors import NotEnoughData
from ....text import plural
from ...drawing import Drawing, lacks_expectation
from ...evidence import Evidence
from ...theme import FAILED, KEEPS_COLOURS, PASSED, TOO_FAR, caption, layer_charts, rename_expression

STEP = 20
MOST_DRAWN = 80  # rows of a figure
SHORT = dict(zip(ANALYSES, ("dir", "2-t", "1-t", "BF", "LMM"), strict=True))
SIGNS = dict(zip(OUTCOMES, ("+", "−", "0", "?"), strict=True))
COLOURS = dict(zip(OUTCOMES, (PASSED, FAILED, TOO_FAR, "#8a8f98"), strict=True))
SIDES = ("interval above 0", "interval reaches 0", "interval below 0")
_LEGEND = rename_expression({name: f"{sign}  {name.replace('_', ' ')}" for name, sign in SIGNS.items()})


def effect_frame(effects: pd.DataFrame, *, by: str = "phenomenon") -> pd.DataFrame:
    """Return each contrast's d_z with its interval.

    Notes
    -----
    ``contrast``, ``task``, ``d_z``, ``ci_low``, ``ci_high`` (noncentral t, 95 %), ``n_participants``;
    from the largest to the smallest. Contrasts without d_z are omitted.
    """
    require_columns(effects, by, "task", "d_z", "n_participants", "n_pairs")
    defined = effects[effects["d_z"].notna()]
    rows = []
    for row in defined.to_dict("records"):
        ends = d_z_interval(float(row["d_z"]), int(row["n_pairs"]))
        rows.append(
            (
                str(row[by]),
                str(row["task"]),
                float(row["d_z"]),
                *(ends or (None, None)),
                int(row["n_participants"]),
            )
        )
    columns = ["contrast", "task", "d_z", "ci_low", "ci_high", "n_participants"]
    frame = pd.DataFrame(rows, columns=columns).astype({"ci_low": float, "ci_high": float, "d_z": float})
    return frame.sort_values(["d_z", "contrast"], ascending=[False, True], kind="stable", ignore_index=True)


def five_analyses_figure(table: pd.DataFrame, *, by: str = "phenomenon", note: str = "") -> alt.LayerChart:
    """Draw a row per contrast and a column per analysis."""
    require_columns(table, by, "analysis", "outcome")
    if not len(table):
        raise NotEnoughData("there is no contrast of acceptable and unacceptable sentences.")
    labelled = table.assign(
        contrast=table[by].astype(str).replace("", "all"),
        column=table["analysis"].map(SHORT),
        sign=table["outcome"].map(SIGNS),
    )
    weight = labelled["outcome"].map({"reversed": 1.0, "null": 1.0, "not_estimable": 0.1, "converges": 0.0})
    doubtful = weight.groupby(labelled["contrast"]).sum()
    order = list(doubtful.sort_values(ascending=False, kind="stable").index)
    visible = labelled[labelled["contrast"].isin(order[:MOST_DRAWN])]
    outcomes = [name for name in OUTCOMES if name in set(table["outcome"])]
    columns = list(SHORT.values())
    x = alt.X(
        "column:N",
        sort=columns,
        scale=alt.Scale(domain=columns, paddingInner=0.06),
        title=None,
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
    )
    y = alt.Y("contrast:N", sort=order[:MOST_DRAWN], title=None, scale=alt.Scale(paddingInner=0.12))
    tiles = alt.Chart(visible).mark_rect(opacity=0.85).encode(
        x=x,
        y=y,
        color=alt.Color(
            "outcome:N",
            title=None,
            scale=alt.Scale(domain=outcomes, range=[COLOURS[name] for name in outcomes]),
            legend=alt.Legend(labelExpr=_LEGEND),
        ),
        tooltip=_tooltip(visible),
    )  # fmt: skip
    ink = alt.condition("datum.outcome == 'null'", alt.value("#101216"), alt.value("#ffffff"))
    signs = alt.Chart(visible).mark_text(fontSize=13, fontWeight="bold").encode(
        x=x, y=y, text="sign:N", color=ink
    )  # fmt: skip
    title = caption(
        "Five analyses of each contrast",
        f"{plural(len(order), 'contrast')}. {_rates(table)} Columns: direction, two-tailed and one-tailed "
        "test, Bayes factor, mixed model.",
        f"The {MOST_DRAWN} most doubtful are drawn." if len(order) > MOST_DRAWN else "",
        note,
    )
    visible = visible.drop(columns=["column", "sign"])
    chart = layer_charts([tiles, signs], visible, height=alt.Step(STEP), title=title)
    chart.usermeta = KEEPS_COLOURS  # white letters stand on them
    return chart


def effect_size_figure(effects: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a dot and an interval per contrast."""
    require_columns(effects, "contrast", "d_z", "ci_low", "ci_high")
    if not len(effects):
        raise NotEnoughData("no contrast has an effect size: nobody judged both sides of one.")
    visible = effects.iloc[-MOST_DRAWN:].assign(
        sure=lambda frame: np.select(
            [frame["ci_low"] > 0, frame["ci_high"] < 0], [SIDES[0], SIDES[2]], default=SIDES[1]
        )
    )
    y = alt.Y("contrast:N", sort=list(dict.fromkeys(visible["contrast"])), title=None)
    styles = zip(SIDES, (PASSED, TOO_FAR, FAILED), ("circle", "diamond", "triangle-down"), strict=True)
    names, colours, shapes = zip(*[look for look in styles if look[0] in set(visible["sure"])], strict=True)
    colour = alt.Color("sure:N", title=None, scale=alt.Scale(domain=list(names), range=list(colours)))
    base = alt.Chart(visible)
    ends = base.mark_rule(strokeWidth=1.5).encode(x="ci_low:Q", x2="ci_high:Q", y=y, color=colour)
    dots = base.mark_point(filled=True, size=46, opacity=1).encode(
        x=alt.X("d_z:Q", title="effect size d_z"),
        y=y,
        color=colour,
        shape=alt.Shape(
            "sure:N",
            title=None,
            scale=alt.Scale(domain=list(names), range=list(shapes)),
        ),
        tooltip=[
            alt.Tooltip("contrast:N"),
            alt.Tooltip("d_z:Q", format=".2f"),
            alt.Tooltip("ci_low:Q", format=".2f"),
            alt.Tooltip("ci_high:Q", format=".2f"),
        ],
    )
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 4]).encode(x="zero:Q")
    people = _range(effects["n_participants"]) if "n_participants" in effects.columns else ""
    title = caption(
        "Effect sizes",
        f"{plural(len(effects), 'contrast')}{people}; d_z = mean / SD of participants' differences; "
        "lines: 95 %, noncentral t.",
        f"The {MOST_DRAWN} smallest are drawn." if len(effects) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([zero, ends, dots], visible.drop(columns="sure"), height=alt.Step(STEP), title=title)


def _range(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f", {low} participants" if low == high else f", {low} to {high} participants"


def _rates(table: pd.DataFrame) -> str:
    """Describe how many contrasts converge in each analysis."""
    parts = []
    for name in ANALYSES:
        outcomes = table.loc[table["analysis"] == name, "outcome"]
        estimable = int((outcomes != "not_estimable").sum())
        if estimable:
            parts.append(f"{SHORT[name]} {int((outcomes == 'converges').sum())}/{estimable}")
    return f"Converge: {', '.join(parts)}." if parts else "None can be estimated."


def _tooltip(rows: pd.DataFrame) -> list[alt.Tooltip]:
    tooltips = [alt.Tooltip("contrast:N"), alt.Tooltip("analysis:N"), alt.Tooltip("outcome:N")]
    for name in ("p", "p_holm", "p_bh"):
        if name in rows.columns:
            tooltips.append(alt.Tooltip(f"{name}:Q", format=".3g"))
    return tooltips


def _draw_tiles(evidence: Evidence) -> alt.LayerChart:
    return five_analyses_figure(evidence.five.table, by=evidence.contrasts, note=evidence.note)


def _draw_sizes(evidence: Evidence) -> alt.LayerChart:
    analyses = evidence.five
    if not len(analyses.effects):
        raise NotEnoughData("there is no contrast of acceptable and unacceptable sentences.")
    return effect_size_figure(effect_frame(analyses.effects, by=evidence.contrasts), note=evidence.note)


DRAWINGS = (
    Drawing(
        name="five-analyses",
        number=11,
        title="Five analyses of each contrast",
        shows="A row per contrast and a column per analysis: converges, reversed, null or not estimable",
        needs="judgments of contrasts",
        about="study",
        lacking=lacks_expectation,
        draw=_draw_tiles,
        is_slow=True,
    ),
    Drawing(
        name="effect-sizes",
        number=11,
        title="Effect sizes",
        shows="A dot per contrast, its effect size d_z, with its interval",
        needs="participants who judged both sides of a contrast",
        about="study",
        lacking=lacks_expectation,
        draw=_draw_sizes,
        is_slow=True,
    ),
)
