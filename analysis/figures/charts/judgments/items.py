"""One row per item: the share that chose the expected member, with its interval."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from ....aggregation.ratings import item_means, transform_ratings
from ....agreement.item_statistics import item_statistics_table
from ....columns import require_columns
from ....errors import NotEnoughData
from ....rows import RATING_TASKS
from ....text import plural
from ...drawing import Drawing, lacks_decisions, lacks_task
from ...evidence import Evidence
from ...points import NOWHERE, Addresses, answering, answers, format_signed
from ...theme import caption, layer_charts

STATUSES = ("expected", "tie", "unexpected", "insufficient", "no_data")
COLOURS = ("#0072b2", "#e69f00", "#d55e00", "#8a8f98", "#8a8f98")
SHAPES = ("circle", "diamond", "triangle-down", "cross", "cross")
EXPECTED = (
    ("acceptable", "#0072b2", "circle"),
    ("unacceptable", "#d55e00", "triangle-down"),
    ("no expectation", "#8a8f98", "cross"),
)
STEP = 20
MOST_DRAWN = 40


def item_strip(
    items: pd.DataFrame,
    *,
    label: str = "item",
    note: str = "",
    members: Mapping[str, str] | None = None,
    addresses: Addresses = NOWHERE,
) -> alt.LayerChart:
    """Draw items from the surest to the most contested.

    ``label`` is the column that names rows, ``members`` the sentences of each item for its tooltip.
    """
    require_columns(items, label, "share", "n", "majority", "ci_low", "ci_high")
    ordered = items[items["share"].notna()].sort_values("share", ascending=False, kind="stable")
    if not len(ordered):
        raise NotEnoughData("no item has a judgment.")
    order = list(dict.fromkeys(ordered[label].astype(str)))
    y = alt.Y(f"{label}:N", sort=order, title=None)
    styles = [
        look for look in zip(STATUSES, COLOURS, SHAPES, strict=True) if look[0] in set(ordered["majority"])
    ]
    statuses, colours, shapes = (list(column) for column in zip(*styles, strict=True))
    colour = alt.Color("majority:N", title=None, scale=alt.Scale(domain=statuses, range=colours))
    base = alt.Chart(ordered)
    lines = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x="ci_low:Q", x2="ci_high:Q", y=y, color=colour
    )
    says = [
        f"{(members or {}).get(str(name)) or name}: {share:.0%} of {n} as expected, "
        f"95 % {low:.0%} to {high:.0%}"
        for name, share, n, low, high in zip(
            *(ordered[column] for column in (label, "share", "n", "ci_low", "ci_high")), strict=True
        )
    ]
    points = answering(ordered, names=ordered[label], says=says, start=addresses.item)
    dots = points.mark_point(filled=True, size=44, opacity=1).encode(
        **answers(addresses.item),
        x=alt.X(
            "share:Q",
            title="share that chose the expected member",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%"),
        ),
        y=y,
        color=colour,
        shape=alt.Shape("majority:N", title=None, scale=alt.Scale(domain=statuses, range=shapes)),
        tooltip=[
            alt.Tooltip(f"{label}:N"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("n:Q", title="judgments"),
            alt.Tooltip("ci_low:Q", format=".1%"),
            alt.Tooltip("ci_high:Q", format=".1%"),
            alt.Tooltip("majority:N"),
        ],
    )
    half = alt.Chart(pd.DataFrame({"half": [0.5]})).mark_rule(strokeDash=[4, 4]).encode(x="half:Q")
    ties = int((ordered["majority"] == "tie").sum())
    title = caption(
        "Agreement by item",
        f"{plural(len(ordered), 'item')}, {plural(int(ordered['n'].sum()), 'judgment')}.",
        "Lines: 95 % Wilson intervals; dashed: one half.",
        f"Ties: {ties}." if ties else "",
        note,
    )
    return layer_charts([half, lines, dots], ordered, height=alt.Step(STEP), title=title)


def sentence_strip(
    means: pd.DataFrame,
    *,
    scale: str = "z",
    note: str = "",
    sentences: Mapping[str, str] | None = None,
    addresses: Addresses = NOWHERE,
) -> alt.LayerChart:
    """Draw sentences from the best to the worst rated."""
    require_columns(means, "sentence_id", "n", "mean", "ci_low", "ci_high")
    ordered = means[means["mean"].notna()].sort_values("mean", ascending=False, kind="stable")
    if not len(ordered):
        raise NotEnoughData("no sentence has a mean.")
    expectation = (
        ordered["expected"].replace("", None)
        if "expected" in ordered.columns
        else pd.Series(None, ordered.index)
    )
    ordered = ordered.assign(expected=expectation.fillna("no expectation"))
    y = alt.Y("sentence_id:N", sort=list(dict.fromkeys(ordered["sentence_id"].astype(str))), title=None)
    styles = [look for look in EXPECTED if look[0] in set(ordered["expected"])]
    words, colours, shapes = (list(column) for column in zip(*styles, strict=True))
    colour = alt.Color("expected:N", title=None, scale=alt.Scale(domain=words, range=colours))
    base = alt.Chart(ordered)
    lines = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x="ci_low:Q", x2="ci_high:Q", y=y, color=colour
    )
    says = [
        f"{(sentences or {}).get(str(name)) or name}: mean {format_signed(mean)} of {n:.0f} ratings"
        for name, mean, n in zip(*(ordered[column] for column in ("sentence_id", "mean", "n")), strict=True)
    ]
    points = answering(ordered, names=ordered["sentence_id"], says=says, start=addresses.item)
    dots = points.mark_point(filled=True, size=44, opacity=1).encode(
        **answers(addresses.item),
        x=alt.X("mean:Q", title=f"mean rating ({scale})", scale=alt.Scale(zero=scale != "raw")),
        y=y,
        color=colour,
        shape=alt.Shape("expected:N", title=None, scale=alt.Scale(domain=words, range=shapes)),
        tooltip=[
            alt.Tooltip("sentence_id:N"),
            alt.Tooltip("mean:Q", format=".2f"),
            alt.Tooltip("n:Q", title="ratings"),
        ],
    )
    middle = alt.Chart(pd.DataFrame({"middle": [0.0]})).mark_rule(strokeDash=[4, 4]).encode(x="middle:Q")
    title = caption(
        "Mean rating by sentence",
        f"{plural(len(ordered), 'sentence')}, {plural(int(ordered['n'].sum()), 'rating')}; lines: "
        "95 %, t with n − 1 degrees of freedom."
        + (" Dashed: participants' own means." if scale == "z" else ""),
        note,
    )
    return layer_charts(
        [*([middle] if scale == "z" else []), lines, dots], ordered, height=alt.Step(STEP), title=title
    )


def _draw_sentences(evidence: Evidence) -> alt.LayerChart:
    judgments = evidence.kept
    means = item_means(judgments, transform_ratings(judgments, transform="z"))
    if "expected" in judgments.columns and "sentence_id" in judgments.columns:
        status = judgments.drop_duplicates("sentence_id").set_index("sentence_id")["expected"].astype(object)
        means["expected"] = means["sentence_id"].map(status)
    rated = means[means["mean"].notna()].sort_values("mean", kind="stable")
    every = -(-len(rated) // MOST_DRAWN) or 1
    sample = rated.iloc[::every]
    remark = f"One in {every:,} of {len(rated):,}, from best to worst." if every > 1 else ""
    return sentence_strip(
        sample,
        note=f"{remark} {evidence.note}".strip(),
        sentences=evidence.sentences,
        addresses=evidence.addresses,
    )


def _draw(evidence: Evidence) -> alt.LayerChart:
    items, remark = contested_items(item_statistics_table(evidence.kept, before=evidence.judgments))
    return item_strip(
        items.assign(item=_unique_names(items)),
        note=f"{remark} {evidence.note}".strip(),
        members=evidence.members,
        addresses=evidence.addresses,
    )


def contested_items(items: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the items whose shares are nearest to one half, and a remark where others are left out."""
    judged = items[items["share"].notna()]
    distance = (judged["share"] - 0.5).abs()
    nearest = judged.loc[distance.sort_values(kind="stable").index[:MOST_DRAWN]]
    left_out = len(judged) > MOST_DRAWN
    return nearest, f"The {MOST_DRAWN} most contested of {len(judged):,}." if left_out else ""


def _unique_names(items: pd.DataFrame) -> pd.Series:
    """Prefix items with their paradigm where several paradigms use the same item names."""
    if not items["item"].duplicated().any():
        return items["item"]
    return items["paradigm"].astype(str) + ", " + items["item"].astype(str)


DRAWINGS = (
    Drawing(
        name="items",
        number=1,
        title="Agreement by item",
        shows="A dot per item, the share of judgments as the author expects, with its Wilson interval",
        needs="judgments with an expected label",
        about="study",
        lacking=lacks_decisions,
        draw=_draw,
    ),
    Drawing(
        name="sentences",
        number=1,
        title="Mean rating by sentence",
        shows="A dot per sentence, its mean rating, with its t interval",
        needs="ratings",
        about="study",
        lacking=lacks_task(*RATING_TASKS),
        draw=_draw_sentences,
    ),
)
