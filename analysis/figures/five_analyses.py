"""What each of the five analyses says of each contrast, and how large the effects are."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.effects.convergence import ANALYSES, OUTCOMES
from analysis.effects.effect_intervals import d_z_interval
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_expectation
from analysis.figures.evidence import Evidence
from analysis.figures.theme import FAILED, KEEPS_COLOURS, PASSED, TOO_FAR, caption, layered, renamed
from analysis.plurals import plural

STEP = 20
MOST_DRAWN = 60
SHORT = dict(zip(ANALYSES, ("dir", "2-t", "1-t", "BF", "LMM"), strict=True))
SIGNS = dict(zip(OUTCOMES, ("+", "−", "0", "?"), strict=True))
COLOURS = dict(zip(OUTCOMES, (PASSED, FAILED, TOO_FAR, "#8a8f98"), strict=True))
SIDES = ("interval above 0", "interval reaches 0", "interval below 0")
_LEGEND = renamed({name: f"{sign}  {name.replace('_', ' ')}" for name, sign in SIGNS.items()})


def effect_frame(effects: pd.DataFrame, *, by: str = "phenomenon") -> pd.DataFrame:
    """Give each contrast's d_z with its interval.

    Parameters
    ----------
    effects : DataFrame
        The ``effects`` of :func:`analysis.effects.five_analyses.five_analyses`.
    by : str
        Column of the contrasts.

    Returns
    -------
    DataFrame
        ``contrast``, ``task``, ``d_z``, ``ci_low``, ``ci_high`` (noncentral t, 95 %), ``n_participants``;
        from the largest to the smallest. Contrasts without d_z are left out.
    """
    require_columns(effects, by, "task", "d_z", "n_participants", "n_pairs")
    known = effects[effects["d_z"].notna()]
    rows = []
    for row in known.to_dict("records"):
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
    """Draw a row per contrast and a column per analysis.

    Parameters
    ----------
    table : DataFrame
        The ``table`` of :func:`analysis.effects.five_analyses.five_analyses`.
    by : str
        Column of the contrasts.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        At most sixty contrasts: those that some analysis does not support come first.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there is no contrast.
    """
    require_columns(table, by, "analysis", "outcome")
    if not len(table):
        raise NotEnoughData("there is no contrast of acceptable and unacceptable sentences.")
    shown = table.assign(
        contrast=table[by].astype(str).replace("", "all"),
        column=table["analysis"].map(SHORT),
        sign=table["outcome"].map(SIGNS),
    )
    weight = shown["outcome"].map({"reversed": 1.0, "null": 1.0, "not_estimable": 0.1, "converges": 0.0})
    doubtful = weight.groupby(shown["contrast"]).sum()
    order = list(doubtful.sort_values(ascending=False, kind="stable").index)
    drawn = shown[shown["contrast"].isin(order[:MOST_DRAWN])]
    found = [name for name in OUTCOMES if name in set(table["outcome"])]
    columns = list(SHORT.values())
    x = alt.X(
        "column:N",
        sort=columns,
        scale=alt.Scale(domain=columns, paddingInner=0.06),
        title=None,
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
    )
    y = alt.Y("contrast:N", sort=order[:MOST_DRAWN], title=None, scale=alt.Scale(paddingInner=0.12))
    tiles = alt.Chart(drawn).mark_rect(opacity=0.85).encode(
        x=x,
        y=y,
        color=alt.Color(
            "outcome:N",
            title=None,
            scale=alt.Scale(domain=found, range=[COLOURS[name] for name in found]),
            legend=alt.Legend(labelExpr=_LEGEND),
        ),
        tooltip=_tooltip(drawn),
    )  # fmt: skip
    ink = alt.condition("datum.outcome == 'null'", alt.value("#101216"), alt.value("#ffffff"))
    signs = alt.Chart(drawn).mark_text(fontSize=13, fontWeight="bold").encode(
        x=x, y=y, text="sign:N", color=ink
    )  # fmt: skip
    title = caption(
        "Five analyses of each contrast",
        f"{plural(len(order), 'contrast')}. {_rates(table)} Columns: direction, two-tailed and one-tailed "
        "test, Bayes factor, mixed model.",
        f"The {MOST_DRAWN} most doubtful are drawn." if len(order) > MOST_DRAWN else "",
        note,
    )
    drawn = drawn.drop(columns=["column", "sign"])
    chart = layered([tiles, signs], drawn, height=alt.Step(STEP), title=title)
    chart.usermeta = KEEPS_COLOURS  # white letters stand on them
    return chart


def effect_size_figure(effects: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a dot and an interval per contrast.

    Parameters
    ----------
    effects : DataFrame
        From :func:`effect_frame`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        At most sixty contrasts, those with the smallest effects.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or no contrast has an effect size.
    """
    require_columns(effects, "contrast", "d_z", "ci_low", "ci_high")
    if not len(effects):
        raise NotEnoughData("no contrast has an effect size: nobody judged both sides of one.")
    drawn = effects.iloc[-MOST_DRAWN:].assign(
        sure=lambda frame: np.select(
            [frame["ci_low"] > 0, frame["ci_high"] < 0], [SIDES[0], SIDES[2]], default=SIDES[1]
        )
    )
    y = alt.Y("contrast:N", sort=list(dict.fromkeys(drawn["contrast"])), title=None)
    looks = zip(SIDES, (PASSED, TOO_FAR, FAILED), ("circle", "diamond", "triangle-down"), strict=True)
    names, colours, shapes = zip(*[look for look in looks if look[0] in set(drawn["sure"])], strict=True)
    colour = alt.Color("sure:N", title=None, scale=alt.Scale(domain=list(names), range=list(colours)))
    base = alt.Chart(drawn)
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
    return layered([zero, ends, dots], drawn.drop(columns="sure"), height=alt.Step(STEP), title=title)


def _range(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f", {low} participants" if low == high else f", {low} to {high} participants"


def _rates(table: pd.DataFrame) -> str:
    """Say how many contrasts converge, analysis by analysis."""
    said = []
    for name in ANALYSES:
        outcomes = table.loc[table["analysis"] == name, "outcome"]
        estimable = int((outcomes != "not_estimable").sum())
        if estimable:
            said.append(f"{SHORT[name]} {int((outcomes == 'converges').sum())}/{estimable}")
    return f"Converge: {', '.join(said)}." if said else "None can be estimated."


def _tooltip(drawn: pd.DataFrame) -> list[alt.Tooltip]:
    shown = [alt.Tooltip("contrast:N"), alt.Tooltip("analysis:N"), alt.Tooltip("outcome:N")]
    for name in ("p", "p_holm"):
        if name in drawn.columns:
            shown.append(alt.Tooltip(f"{name}:Q", format=".3g"))
    return shown


def _draw_tiles(evidence: Evidence) -> alt.LayerChart:
    return five_analyses_figure(evidence.five.table, by=evidence.contrasts, note=evidence.note)


def _draw_sizes(evidence: Evidence) -> alt.LayerChart:
    found = evidence.five
    if not len(found.effects):
        raise NotEnoughData("there is no contrast of acceptable and unacceptable sentences.")
    return effect_size_figure(effect_frame(found.effects, by=evidence.contrasts), note=evidence.note)


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
