"""Models by one criterion with intervals, beside chance, the constant and humans."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from ....columns import require_columns
from ....comparison.leaderboard import CONSTANT, MODEL, PEOPLE, leaderboard_rows
from ....errors import NotEnoughData
from ....text import plural
from ...drawing import Drawing, lacks_models
from ...evidence import Evidence
from ...points import NOWHERE, Addresses, answering, answers
from ...theme import BAND, FAILED, PASSED, TOO_FAR, caption, layer_charts

STEP = 24
MOST_DRAWN = 40
LINES = (("chance", FAILED, [8, 3, 2, 3]), ("constant", TOO_FAR, [2, 3]), ("people", BAND, [6, 4]))


def leaderboard_frame(rows: Sequence[dict[str, Any]], key: str = "blimp") -> pd.DataFrame:
    """Gather one column of a leaderboard.

    Notes
    -----
    ``kind`` (``model``, ``chance``, ``constant``, ``people``), ``model``, ``value``, ``low``, ``high``,
    ``comparison`` (its number, where the rows name it); models in the order of the rows. ``chance`` is the
    mean over the models, whose scores are permuted.
    """
    table = [
        {
            "kind": {MODEL: "model", CONSTANT: "constant", PEOPLE: "people"}[row["kind"]],
            "model": row["model"],
            "value": row.get(key),
            "low": row.get(f"{key}_low"),
            "high": row.get(f"{key}_high"),
            "comparison": row.get("comparison"),
        }
        for row in rows
    ]
    chances = [row[f"{key}_chance"] for row in rows if row.get(f"{key}_chance") is not None]
    if chances:
        table.append({"kind": "chance", "model": "permuted scores", "value": sum(chances) / len(chances)})
    frame = pd.DataFrame(table, columns=["kind", "model", "value", "low", "high", "comparison"])
    frame = frame.astype({"value": float, "low": float, "high": float, "comparison": "Int64"})
    return frame[frame["value"].notna()].reset_index(drop=True)


def leaderboard_figure(
    board: pd.DataFrame, *, criterion: str, note: str = "", addresses: Addresses = NOWHERE
) -> alt.LayerChart:
    """Draw a dot and an interval per model, with lines at chance, constant and humans."""
    require_columns(board, "kind", "model", "value", "low", "high", "comparison")
    models = board[board["kind"] == "model"]
    if not len(models):
        raise NotEnoughData("no model has a value.")
    visible = models.iloc[:MOST_DRAWN].assign(place=lambda frame: _labels(frame["model"]))
    y = alt.Y("place:N", sort=list(visible["place"]), title=None)
    x = alt.X("value:Q", title=criterion, scale=alt.Scale(zero=False, nice=True))
    says = [
        f"{name}: {value:.3f}" + (f", 95 % {low:.3f} to {high:.3f}" if pd.notna(low) else "")
        for name, value, low, high in zip(
            *(visible[column] for column in ("model", "value", "low", "high")), strict=True
        )
    ]
    start = addresses.comparison if visible["comparison"].notna().all() else ""
    points = answering(visible, names=visible["comparison"], says=says, start=start, end="/")
    dots = points.mark_point(filled=True, size=70, opacity=1, color=PASSED)
    dots = dots.encode(**answers(start), x=x, y=y)
    bounded = visible[visible["low"].notna()]
    ends = alt.Chart(bounded).mark_rule(strokeWidth=1.5, color=PASSED).encode(x="low:Q", x2="high:Q", y=y)
    marks = board[board["kind"] != "model"]
    names = [line for line in LINES if line[0] in set(marks["kind"])]
    layers = [ends, dots]
    if names:
        kinds, colours, dashes = (list(column) for column in zip(*names, strict=True))
        legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=2.5)
        lines = alt.Chart(marks).mark_rule(strokeWidth=2).encode(
            x="value:Q",
            color=alt.Color(
                "kind:N", title=None, scale=alt.Scale(domain=kinds, range=colours), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "kind:N", title=None, scale=alt.Scale(domain=kinds, range=dashes), legend=legend
            ),
        )  # fmt: skip
        layers = [lines, *layers]
    unbounded = len(visible) - len(bounded)
    title = caption(
        "Leaderboard",
        f"{plural(len(models), 'model')} by {criterion}.",
        "Lines: 95 % intervals over clusters of pairs." if len(bounded) else "",
        f"Without an interval: {plural(unbounded, 'model')}." if unbounded else "",
        "Chance: a model's own scores, permuted. Constant: one difference for every pair." if names else "",
        f"The first {MOST_DRAWN} are drawn." if len(models) > MOST_DRAWN else "",
        note,
    )
    return layer_charts(layers, board, height=alt.Step(STEP), title=title)


def _labels(names: pd.Series) -> pd.Series:
    """Number names that occur more than once, so that each model has its row."""
    occurrence = names.groupby(names).cumcount()
    return names.where(occurrence == 0, names + " (" + (occurrence + 1).astype(str) + ")")


def _draw(evidence: Evidence) -> alt.LayerChart:
    document = evidence.comparison
    if document is None:
        raise NotEnoughData("there are no scores of a model.")
    rows = leaderboard_rows(dict(document))
    models = sorted(
        (row for row in rows if row["kind"] == MODEL and row["blimp"] is not None),
        key=lambda row: -row["blimp"],
    )
    frame = leaderboard_frame([*models, *(row for row in rows if row["kind"] != MODEL)])
    return leaderboard_figure(
        frame.assign(comparison=evidence.number),
        criterion="share of pairs right (BLiMP)",
        note=evidence.note,
        addresses=evidence.addresses,
    )


DRAWINGS = (
    Drawing(
        name="leaderboard",
        number=3,
        title="Leaderboard",
        shows="A dot per model, its share of pairs right, with its interval, chance and the constant",
        needs="scores of a model on minimal pairs",
        about="models",
        lacking=lacks_models,
        draw=_draw,
    ),
)
