"""One row per item: the share that chose the expected member, with its interval."""

import altair as alt
import pandas as pd

from analysis.aggregation.ratings import item_means
from analysis.aggregation.transforms import transformed
from analysis.agreement.report import item_table
from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_decisions, lacks_task
from analysis.figures.evidence import Evidence
from analysis.figures.theme import caption, layered
from analysis.plurals import plural
from analysis.rows import RATING_TASKS

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


def item_strip(items: pd.DataFrame, *, label: str = "item", note: str = "") -> alt.LayerChart:
    """Draw items from the surest to the most contested.

    Parameters
    ----------
    items : DataFrame, one row per item
        Needs ``share``, ``n``, ``majority``, ``ci_low``, ``ci_high`` and the column that names rows.
    label : str
        Column that names rows.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        A dot and a line per item, the line of the majority at one half, ties marked.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or no item has a judgment.
    """
    require_columns(items, label, "share", "n", "majority", "ci_low", "ci_high")
    shown = items[items["share"].notna()].sort_values("share", ascending=False, kind="stable")
    if not len(shown):
        raise NotEnoughData("no item has a judgment.")
    order = list(dict.fromkeys(shown[label].astype(str)))
    y = alt.Y(f"{label}:N", sort=order, title=None)
    looks = [
        look for look in zip(STATUSES, COLOURS, SHAPES, strict=True) if look[0] in set(shown["majority"])
    ]
    statuses, colours, shapes = (list(column) for column in zip(*looks, strict=True))
    colour = alt.Color("majority:N", title=None, scale=alt.Scale(domain=statuses, range=colours))
    base = alt.Chart(shown)
    lines = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x="ci_low:Q", x2="ci_high:Q", y=y, color=colour
    )
    dots = base.mark_point(filled=True, size=44, opacity=1).encode(
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
    ties = int((shown["majority"] == "tie").sum())
    title = caption(
        "Agreement by item",
        f"{plural(len(shown), 'item')}, {plural(int(shown['n'].sum()), 'judgment')}.",
        "Lines: 95 % Wilson intervals; dashed: one half.",
        f"Ties: {ties}." if ties else "",
        note,
    )
    return layered([half, lines, dots], shown, height=alt.Step(STEP), title=title)


def sentence_strip(means: pd.DataFrame, *, scale: str = "z", note: str = "") -> alt.LayerChart:
    """Draw sentences from the best to the worst rated.

    Parameters
    ----------
    means : DataFrame, one row per sentence
        Needs ``sentence_id``, ``n``, ``mean``, ``ci_low`` and ``ci_high``, as from
        :func:`analysis.aggregation.ratings.item_means`; ``expected`` colours the rows.
    scale : str
        Of the means.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        A dot and a line per sentence; dashed: the middle of the participants' scales for z.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or no sentence has a mean.
    """
    require_columns(means, "sentence_id", "n", "mean", "ci_low", "ci_high")
    shown = means[means["mean"].notna()].sort_values("mean", ascending=False, kind="stable")
    if not len(shown):
        raise NotEnoughData("no sentence has a mean.")
    named = (
        shown["expected"].replace("", None) if "expected" in shown.columns else pd.Series(None, shown.index)
    )
    shown = shown.assign(expected=named.fillna("no expectation"))
    y = alt.Y("sentence_id:N", sort=list(dict.fromkeys(shown["sentence_id"].astype(str))), title=None)
    looks = [look for look in EXPECTED if look[0] in set(shown["expected"])]
    words, colours, shapes = (list(column) for column in zip(*looks, strict=True))
    colour = alt.Color("expected:N", title=None, scale=alt.Scale(domain=words, range=colours))
    base = alt.Chart(shown)
    lines = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x="ci_low:Q", x2="ci_high:Q", y=y, color=colour
    )
    dots = base.mark_point(filled=True, size=44, opacity=1).encode(
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
        f"{plural(len(shown), 'sentence')}, {plural(int(shown['n'].sum()), 'rating')}; lines: "
        "95 %, t with n − 1 degrees of freedom."
        + (" Dashed: participants' own means." if scale == "z" else ""),
        note,
    )
    return layered(
        [*([middle] if scale == "z" else []), lines, dots], shown, height=alt.Step(STEP), title=title
    )


def _draw_sentences(evidence: Evidence) -> alt.LayerChart:
    kept = evidence.kept
    means = item_means(kept, transformed(kept, transform="z"))
    if "expected" in kept.columns and "sentence_id" in kept.columns:
        status = kept.drop_duplicates("sentence_id").set_index("sentence_id")["expected"].astype(object)
        means["expected"] = means["sentence_id"].map(status)
    rated = means[means["mean"].notna()].sort_values("mean", kind="stable")
    every = -(-len(rated) // MOST_DRAWN) or 1
    shown = rated.iloc[::every]
    said = f"One in {every:,} of {len(rated):,}, from best to worst." if every > 1 else ""
    return sentence_strip(shown, note=f"{said} {evidence.note}".strip())


def _draw(evidence: Evidence) -> alt.LayerChart:
    counted = item_table(evidence.kept, before=evidence.judgments)
    judged = counted[counted["share"].notna()]
    distance = (judged["share"] - 0.5).abs()
    judged = judged.assign(item=_told_apart(judged))
    shown = judged.loc[distance.sort_values(kind="stable").index[:MOST_DRAWN]]
    left = f"The {MOST_DRAWN} most contested of {len(judged):,}." if len(judged) > MOST_DRAWN else ""
    return item_strip(shown, note=f"{left} {evidence.note}".strip())


def _told_apart(items: pd.DataFrame) -> pd.Series:
    """Name items by their paradigm too where several paradigms number theirs alike: one row each."""
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
