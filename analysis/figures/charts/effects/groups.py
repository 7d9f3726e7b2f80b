"""Effects by group of participants, and items that function differently between groups."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from ....errors import NotEnoughData
from ...drawing import NO_JUDGMENTS, Drawing
from ...evidence import Evidence
from ...theme import FAILED, PASSED, TOO_FAR, caption, layer_charts

STEP = 16
MAX_ITEMS = 40
CLASSES = {"A": "A: negligible", "B": "B: moderate", "C": "C: large"}


def group_effect_frame(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return ``contrast``, ``group``, ``estimate``, ``ci_low``, ``ci_high`` and ``participants``."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in report["effects"]:
        contrast = str(row[report["by"]]).replace("_", " ") or "not named"
        for group, effect in ((row["reference"], row["effect_reference"]), (row["group"], row["effect"])):
            rows[(contrast, group)] = {
                "contrast": contrast,
                "group": group,
                "estimate": effect["estimate"],
                "ci_low": effect["ci_low"],
                "ci_high": effect["ci_high"],
                "participants": effect["n_participants"],
            }
    numbers = dict.fromkeys(("estimate", "ci_low", "ci_high"), float)
    columns = ["contrast", "group", "estimate", "ci_low", "ci_high", "participants"]
    return pd.DataFrame(list(rows.values()), columns=columns).astype(numbers)


def group_effect_figure(report: Mapping[str, Any], *, note: str = "") -> alt.LayerChart:
    """Draw a dot with its interval for each contrast and group."""
    rows = group_effect_frame(report)
    rows = rows[rows["estimate"].notna()]
    if rows.empty:
        raise NotEnoughData("no contrast has an effect in a group.")
    names = [group["value"] for group in report["groups"]]
    rows = rows.assign(row=rows["contrast"] + ", " + rows["group"])
    order = [f"{contrast}, {name}" for contrast in dict.fromkeys(rows["contrast"]) for name in names]
    y = alt.Y("row:N", title=None, sort=order)
    colour = alt.Color("group:N", title=report["group"], scale=alt.Scale(domain=names))
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 4]).encode(x="zero:Q")
    ends = (
        alt.Chart(rows)
        .mark_rule()
        .encode(x=alt.X("ci_low:Q", title="effect"), x2="ci_high:Q", y=y, color=colour)
    )
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("estimate:Q", title="effect"),
            y=y,
            color=colour,
            tooltip=[
                "contrast:N",
                "group:N",
                alt.Tooltip("estimate:Q", format=".3f"),
                "participants:Q",
            ],
        )
    )
    is_choice = report["effects"][0]["task"] == "forced_choice"
    what = "share as expected minus one half" if is_choice else "acceptable minus unacceptable sentences"
    title = caption(
        f"Effects by {report['group']}", f"{what.capitalize()}, with 95 % intervals over participants.", note
    )
    return layer_charts([zero, ends, dots], rows, height=alt.Step(STEP), title=title)


def item_functioning_frame(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return ``item``, ``group``, ``size`` (delta, or the effect size of ratings) and ``class``."""
    rows = pd.DataFrame(report["items"])
    if rows.empty:
        return pd.DataFrame(columns=["item", "group", "size", "class", "p_corrected"])
    size = rows["delta"].astype(float).fillna(rows["effect_size"].astype(float))
    rows = rows.assign(size=size, p_corrected=rows[f"p_{report['correction']}"].astype(float))
    rows["class"] = rows["effect_class"].map(CLASSES)
    return rows.loc[size.notna(), ["item", "group", "size", "class", "p_corrected", "smd"]]


def item_functioning_figure(report: Mapping[str, Any], *, note: str = "") -> alt.LayerChart:
    """Draw the items with the largest differences, coloured by their class."""
    rows = item_functioning_frame(report)
    if rows.empty:
        raise NotEnoughData("no item has enough answers of both groups.")
    total, is_rating = len(rows), bool(rows["smd"].notna().any())
    rows = rows.loc[rows["size"].abs().sort_values(ascending=False).index[:MAX_ITEMS]].sort_values("size")
    rows = rows.assign(row=rows["item"] + (", " + rows["group"] if rows["group"].nunique() > 1 else ""))
    measure = "difference of means / SD of the item" if is_rating else "delta (−2.35 log odds ratio)"
    present = [label for label in CLASSES.values() if (rows["class"] == label).any()]
    colours = dict(zip(CLASSES.values(), (PASSED, TOO_FAR, FAILED), strict=True))
    scale = alt.Scale(domain=present, range=[colours[label] for label in present])
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("size:Q", title=measure),
            y=alt.Y("row:N", title=None, sort=list(rows["row"])),
            color=alt.Color("class:N", title="ETS class", scale=scale),
            shape=alt.Shape("class:N", title="ETS class", scale=alt.Scale(domain=present)),
            tooltip=[
                "item:N",
                "group:N",
                alt.Tooltip("size:Q", format=".2f"),
                alt.Tooltip("p_corrected:Q", format=".3g"),
            ],
        )
    )
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 4]).encode(x="zero:Q")
    part = f"The {len(rows)} largest of {total} differences" if total > len(rows) else f"{total} differences"
    title = caption(
        f"Items by {report['group']}",
        f"{part} from {report['items'][0]['reference']} at equal overall judgment.",
        note,
    )
    return layer_charts([zero, dots], rows, height=alt.Step(STEP), title=title)


def _lacks_groups(evidence: Evidence) -> str:
    if not evidence.tasks:
        return NO_JUDGMENTS
    return "" if evidence.groups is not None else "It is drawn on the page Groups, which computes it."


def _draw_effects(evidence: Evidence) -> alt.LayerChart:
    if evidence.groups is None:
        raise NotEnoughData("the groups have not been compared.")
    return group_effect_figure(evidence.groups, note=evidence.note)


def _draw_items(evidence: Evidence) -> alt.LayerChart:
    if evidence.groups is None:
        raise NotEnoughData("the groups have not been compared.")
    return item_functioning_figure(evidence.groups, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="group-effects",
        number=11,
        title="Effects by group",
        shows="A dot per contrast and group of participants, the effect with its interval",
        needs="groups of participants",
        about="study",
        lacking=_lacks_groups,
        draw=_draw_effects,
    ),
    Drawing(
        name="item-functioning",
        number=11,
        title="Items by group",
        shows="A dot per item, the difference between groups at equal overall judgment, by ETS class",
        needs="groups of participants",
        about="study",
        lacking=_lacks_groups,
        draw=_draw_items,
    ),
)
