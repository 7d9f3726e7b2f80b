"""People's differences against a model's, with the band of the ADC."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.comparison.criteria import Signs, adc_met, signs_agree
from analysis.comparison.deltas import PairTable
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_labels
from analysis.figures.evidence import Evidence
from analysis.figures.theme import BAND, FAILED, PASSED, TOO_FAR, caption, layered

HEIGHT = 380
MAX_POINTS = 4_000
OUTCOMES = ("within δ", "too far", "other sign")
LOOKS = tuple(zip(OUTCOMES, (PASSED, TOO_FAR, FAILED), ("circle", "square", "triangle-up"), strict=True))


def delta_frame(table: PairTable, model: str, *, delta: float = 1.0, signs: Signs = "strict") -> pd.DataFrame:
    """Gather what the figure of one model shows.

    Parameters
    ----------
    table : PairTable
        From :func:`analysis.comparison.deltas.pair_table`.
    model : str
        A column of its scores.
    delta : float
        Half the width of the band.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    DataFrame
        ``pair_id``, ``good_id``, ``bad_id``, ``human_delta``, ``model_delta``, ``outcome``; pairs with
        both differences.
    """
    human = table.human_delta.to_numpy(dtype=float)
    theirs = table.model_delta[model].to_numpy(dtype=float)
    met = adc_met(human, theirs, delta=delta, signs=signs)
    agree = signs_agree(human, theirs, signs=signs)
    outcome = np.select([met, agree], OUTCOMES[:2], default=OUTCOMES[2])
    frame = table.pairs[["pair_id", "good_id", "bad_id"]].assign(
        human_delta=human, model_delta=theirs, outcome=outcome
    )
    return frame[frame["human_delta"].notna() & frame["model_delta"].notna()]


def delta_figure(
    deltas: pd.DataFrame, *, model: str, delta: float = 1.0, signs: Signs = "strict", note: str = ""
) -> alt.LayerChart:
    """Draw people's differences against a model's.

    Parameters
    ----------
    deltas : DataFrame
        From :func:`delta_frame`; a column ``pair`` with the two sentences is shown on hover.
    model : str
        Name of the model.
    delta : float
        Half the width of the band.
    signs : {"strict", "published"}
        Named in the caption.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        Identity line, band, quadrants where signs differ shaded, one point per pair.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or no pair has both differences.
    """
    require_columns(deltas, "pair_id", "human_delta", "model_delta", "outcome")
    if not len(deltas):
        raise NotEnoughData("no pair has differences of people and of the model.")
    drawn = deltas if len(deltas) <= MAX_POINTS else deltas.sample(MAX_POINTS, random_state=0).sort_index()
    reach = float(np.ceil(deltas[["human_delta", "model_delta"]].abs().to_numpy().max() * 2) / 2)
    x = alt.X(
        "model_delta:Q",
        title=f"Δ {model} (sd of its scores)",
        scale=alt.Scale(domain=[-reach, reach], nice=False),
    )
    y = alt.Y("human_delta:Q", title="Δ people (z)", scale=alt.Scale(domain=[-reach, reach], nice=False))
    looks = [look for look in LOOKS if look[0] in set(deltas["outcome"])]
    outcomes, colours, shapes = (list(column) for column in zip(*looks, strict=True))
    passed = int((deltas["outcome"] == OUTCOMES[0]).sum())
    title = caption(
        "Differences of people and model",
        f"{len(deltas)} pairs; {passed} ({passed / len(deltas):.1%}) within δ = {delta:g} with the same sign "
        f"(signs {signs}). Shaded: signs differ.",
        f"A random {len(drawn)} of the pairs are drawn." if len(drawn) < len(deltas) else "",
        note,
    )
    points = (
        alt.Chart(drawn)
        .mark_point(filled=True, size=26, opacity=0.65)
        .encode(
            x=x,
            y=y,
            tooltip=_tooltip(drawn),
            color=alt.Color(
                "outcome:N",
                title=None,
                scale=alt.Scale(domain=outcomes, range=colours),
            ),
            shape=alt.Shape(
                "outcome:N",
                title=None,
                scale=alt.Scale(domain=outcomes, range=shapes),
            ),
        )
    )
    layers = [*_ground(reach, delta), points]
    return layered(layers, drawn, height=HEIGHT, title=title)


def _tooltip(deltas: pd.DataFrame) -> list[alt.Tooltip]:
    names = [alt.Tooltip("pair_id:N", title="pair")]
    if "pair" in deltas.columns:
        names.append(alt.Tooltip("pair:N", title="sentences"))
    return [
        *names,
        alt.Tooltip("human_delta:Q", title="Δ people", format=".2f"),
        alt.Tooltip("model_delta:Q", title="Δ model", format=".2f"),
        alt.Tooltip("outcome:N", title="ADC"),
    ]


def _ground(reach: float, delta: float) -> list[alt.Chart]:
    """Shade where signs differ, then the band, then the line of identity."""
    corners = pd.DataFrame({"x": [-reach, 0.0], "x2": [0.0, reach], "y": [0.0, -reach], "y2": [reach, 0.0]})
    ends = pd.DataFrame({"x": [-reach, reach]}).assign(
        low=lambda frame: frame["x"] - delta, high=lambda frame: frame["x"] + delta
    )
    shaded = (
        alt.Chart(corners)
        .mark_rect(color="#888888", opacity=0.12)
        .encode(x="x:Q", x2="x2:Q", y="y:Q", y2="y2:Q")
    )
    band = (
        alt.Chart(ends).mark_area(color=BAND, opacity=0.14, clip=True).encode(x="x:Q", y="low:Q", y2="high:Q")
    )
    identity = alt.Chart(ends).mark_line(color=BAND, strokeWidth=1.5, clip=True).encode(x="x:Q", y="x:Q")
    return [shaded, band, identity]


def _draw(evidence: Evidence) -> alt.LayerChart:
    table = evidence.table
    if table is None:
        raise NotEnoughData("there are no scores of a model.")
    model, delta = evidence.model or table.models[0], min(evidence.deltas)
    frame = delta_frame(table, model, delta=delta, signs=evidence.signs)
    return delta_figure(frame, model=model, delta=delta, signs=evidence.signs, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="deltas",
        number=3,
        title="Differences of people and model",
        shows="A point per pair, people's difference against the model's, with the band of the ADC",
        needs="scores of people and of a model on the members of minimal pairs",
        about="models",
        lacking=lacks_labels,
        draw=_draw,
    ),
)
