"""Interaction plot of a factorial design: means with within-participant intervals, thin lines for items."""

from collections.abc import Iterator
from itertools import product

import altair as alt
import pandas as pd

from ....comparison.criteria import standardize
from ....effects.factors import Cells, NoDesign, recognize_design
from ....effects.report import scored_targets
from ....effects.within import within_intervals
from ....errors import NotEnoughData
from ....rows import RATING_TASKS, column_or_blank, is_kind
from ....text import plural
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import INK, MODELS, caption, layer_charts

MOST_PANELS = 6  # of a figure that fits a phone
MOST_ITEMS = 60  # thin lines of a panel that can be told apart
HEIGHT = 280
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
DASHES = ([1, 0], [7, 4], [2, 3], [8, 3, 2, 3])
COLOURS = (*MODELS["light"], INK["light"])
_BREAK = "\n"
"""Between panel and level in the values of the axis."""


def interaction_frame(evidence: Evidence) -> pd.DataFrame:
    """Return the points of the figure.

    Notes
    -----
    ``panel`` (a group, a level of a third factor, or a model), ``line`` and ``level`` (of the first and of
    the last factor), ``item`` (empty for the mean of a cell), ``mean``, ``ci_low`` and ``ci_high``
    (Cousineau–Morey, 95 %: within participants, for models within items) and ``n``.
    """
    frames = [
        _points(panel, rows, unit=unit, lines=lines, levels=levels)
        for panel, rows, unit, lines, levels in _panels(evidence)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


Panel = tuple[str, pd.DataFrame, str, list[str], list[str]]


def _panels(evidence: Evidence) -> Iterator[Panel]:
    """Yield name, rows with ``line`` and ``level``, unit of the interval, lines and levels of each panel."""
    people = scored_targets(evidence.kept, "z")
    groups = list(_groups(people, evidence))
    for name, part in groups:
        yield from _split(name or "people", part, evidence, unit="participant")
    if evidence.stimuli is None or evidence.model_scores is None or len(groups) != 1:
        return
    for model in evidence.model_scores.columns.drop("sentence_id"):
        z = standardize(evidence.model_scores.set_index("sentence_id")[model].astype(float))
        scored = evidence.stimuli.assign(score=evidence.stimuli["sentence_id"].map(z).astype(float))
        for _, part in _groups(scored[scored["score"].notna()], evidence):
            yield from _split(str(model), part.assign(participant=""), evidence, unit="item")


def _groups(rows: pd.DataFrame, evidence: Evidence) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, part in rows.groupby(column_or_blank(rows, evidence.contrasts).astype(str), sort=True):
        design = recognize_design(part, factors=evidence.factors or {})
        if isinstance(design, Cells) or (isinstance(design, NoDesign) and len(_varying(part, evidence)) > 1):
            yield str(name), part


def _varying(rows: pd.DataFrame, evidence: Evidence) -> dict[str, list[str]]:
    """Return the factors with several levels in these rows, the levels in order."""
    present = {
        name: [level for level in map(str, levels) if (rows[name].astype(object) == level).any()]
        for name, levels in (evidence.factors or {}).items()
        if name in rows.columns
    }
    return {name: levels for name, levels in present.items() if len(levels) > 1}


def _split(name: str, rows: pd.DataFrame, evidence: Evidence, *, unit: str) -> Iterator[Panel]:
    """Yield a panel for each combination of the factors between the first and the last."""
    varying = _varying(rows, evidence)
    if len(varying) < 2:
        design = recognize_design(rows, factors={})
        if isinstance(design, Cells):
            names = rows["condition"].astype(str)
            coded = rows.assign(
                line=names.map({condition: pair[0] for condition, pair in design.levels.items()}),
                level=names.map({condition: pair[1] for condition, pair in design.levels.items()}),
            )
            first, second = design.first, design.second
            yield name, coded, unit, [first.plain, first.marked], [second.plain, second.marked]
        return
    (first_name, lines), *between, (last_name, levels) = varying.items()
    coded = rows.assign(line=rows[first_name].astype(object), level=rows[last_name].astype(object))
    for combination in product(*(names for _, names in between)):
        part = coded
        for (factor, _), level in zip(between, combination, strict=True):
            part = part[part[factor].astype(object) == level]
        yield ", ".join([name, *combination]), part, unit, lines, levels


def _points(
    panel: str, rows: pd.DataFrame, *, unit: str, lines: list[str], levels: list[str]
) -> pd.DataFrame:
    rows = rows[rows["line"].isin(lines) & rows["level"].isin(levels)]
    cells = rows.assign(cell=rows["line"].astype(str) + "\0" + rows["level"].astype(str))
    within = within_intervals(cells, condition="cell", unit=unit, value="score").set_index("condition")
    counts = cells.groupby("cell")["score"].agg(["mean", "size"])
    half = (within["ci_high"] - within["mean"]).reindex(counts.index)
    order = [f"{line}\0{level}" for line, level in product(lines, levels)]
    means = pd.DataFrame(
        {
            "item": "",
            # as on the page of ratings: all ratings give the centre, complete units the width
            "mean": counts["mean"],
            "ci_low": counts["mean"] - half,
            "ci_high": counts["mean"] + half,
            "n": counts["size"],
        }
    ).reindex([cell for cell in order if cell in counts.index])
    items = cells.groupby(["item", "cell"], observed=True)["score"].agg(["mean", "size"]).reset_index("item")
    items = items.rename(columns={"size": "n"})[["item", "mean", "n"]]
    points = pd.concat([means, items]).rename_axis("cell").reset_index()
    sides = points["cell"].str.split("\0", expand=True)
    return points.drop(columns="cell").assign(panel=panel, line=sides[0], level=sides[1])[
        ["panel", "line", "level", "item", "mean", "ci_low", "ci_high", "n"]
    ]


def interaction_figure(
    points: pd.DataFrame, *, names: tuple[str, str] = ("", ""), has_models: bool = False, note: str = ""
) -> alt.LayerChart:
    """Draw :func:`interaction_frame`: a line for each level of the first factor, panels side by side."""
    if points.empty:
        raise NotEnoughData("no factorial design has ratings in its cells.")
    panels = list(dict.fromkeys(points["panel"]))
    visible = points[points["panel"].isin(panels[:MOST_PANELS])].assign(
        place=lambda frame: frame["panel"] + _BREAK + frame["level"]
    )
    lines = list(dict.fromkeys(visible.loc[visible["item"] == "", "line"]))
    places = list(dict.fromkeys(visible.loc[visible["item"] == "", "place"]))
    is_alone = len(panels) == 1
    label = f"split(datum.value, '{_BREAK}')[1]" if is_alone else f"reverse(split(datum.value, '{_BREAK}'))"
    x = alt.X(
        "place:N",
        sort=places,
        title=names[1] or None,
        scale=alt.Scale(domain=places, padding=0.4),
        axis=alt.Axis(labelAngle=0, labelExpr=label.replace(_BREAK, "\\n"), grid=False),
    )
    y = alt.Y("mean:Q", title="mean z", scale=alt.Scale(zero=False, nice=True))
    encoding = {
        "color": alt.Color(
            "line:N",
            title=names[0] or None,
            legend=alt.Legend(symbolOpacity=1),
            scale=alt.Scale(
                domain=lines, range=[COLOURS[place % len(COLOURS)] for place in range(len(lines))]
            ),
        ),
    }
    dash = alt.StrokeDash(
        "line:N",
        title=names[0] or None,
        scale=alt.Scale(domain=lines, range=[DASHES[place % len(DASHES)] for place in range(len(lines))]),
    )
    shape = alt.Shape(
        "line:N",
        title=names[0] or None,
        scale=alt.Scale(domain=lines, range=[SHAPES[place % len(SHAPES)] for place in range(len(lines))]),
    )
    centres, items = visible[visible["item"] == ""], visible[visible["item"] != ""]
    item_means = items[items["item"].isin(list(dict.fromkeys(items["item"]))[:MOST_ITEMS])]
    thin = alt.Chart(item_means).mark_line(strokeWidth=1, opacity=0.25).encode(
        x=x, y=y, detail=["panel:N", "item:N"], **encoding
    )  # fmt: skip
    thick = alt.Chart(centres).mark_line(strokeWidth=3).encode(
        x=x, y=y, detail="panel:N", strokeDash=dash, **encoding
    )  # fmt: skip
    ends = alt.Chart(centres[centres["ci_low"].notna()]).mark_rule(strokeWidth=2).encode(
        x=x, y=alt.Y("ci_low:Q", title="mean z"), y2="ci_high:Q", **encoding
    )  # fmt: skip
    dots = alt.Chart(centres).mark_point(filled=True, size=90, opacity=1).encode(
        x=x,
        y=y,
        shape=shape,
        tooltip=[
            alt.Tooltip("panel:N"),
            alt.Tooltip("line:N"),
            alt.Tooltip("level:N"),
            alt.Tooltip("mean:Q", format=".2f"),
            alt.Tooltip("n:Q"),
        ],
        **encoding,
    )  # fmt: skip
    n_items = items["item"].nunique()
    title = caption(
        "Interaction",
        f"{plural(n_items, 'item')}; large marks: means with 95 % within-participant intervals "
        "(Cousineau–Morey); thin lines: items.",
        "Models: intervals within items, z over all sentences." if has_models else "",
        f"The first {MOST_ITEMS} items are drawn." if n_items > MOST_ITEMS else "",
        f"The first {MOST_PANELS} of {len(panels)} panels are drawn." if len(panels) > MOST_PANELS else "",
        note,
    )
    data = visible.drop(columns="place")
    return layer_charts([thin, thick, ends, dots], data, height=HEIGHT, title=title)


def _lacking(evidence: Evidence) -> str:
    """Return why there is no factorial design of ratings; empty if there is one."""
    missing = lacks_task(*RATING_TASKS, "yes_no")(evidence)
    if missing or evidence.judgments is None or "condition" not in evidence.judgments.columns:
        return missing or "The judgments have no conditions."
    names = ["condition", "expected", evidence.contrasts, *(evidence.factors or {})]
    targets = evidence.judgments[is_kind(evidence.judgments, ("target",))]
    rows = pd.DataFrame({name: column_or_blank(targets, name) for name in names if name in targets.columns})
    rows = rows.drop_duplicates()
    if any(True for _ in _groups(rows, evidence)):
        return ""
    reasons = [
        design.reason
        for _, part in rows.groupby(column_or_blank(rows, evidence.contrasts).astype(str), observed=True)
        if isinstance(design := recognize_design(part, factors=evidence.factors or {}), NoDesign)
    ]
    return f"No factorial design: {reasons[0]}" if reasons else "No factorial design: no two factors."


def _draw(evidence: Evidence) -> alt.LayerChart:
    factors = list(evidence.factors or {})
    names = (factors[0], factors[-1]) if len(factors) > 1 else ("", "")
    has_models = evidence.stimuli is not None and evidence.model_scores is not None
    points = interaction_frame(evidence)
    return interaction_figure(points, names=names, has_models=has_models, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="interaction",
        number=0,
        title="Interaction",
        shows="Means of the conditions of a factorial design with within-participant intervals, a line for "
        "each level of the first factor and thin lines for items",
        needs="ratings of a factorial design",
        about="study",
        lacking=_lacking,
        draw=_draw,
    ),
)
