"""Human differences against a model's, with the band of the ADC."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....comparison.criteria import Signs, adc_met, signs_agree
from ....comparison.pairs import PairTable
from ....errors import NotEnoughData
from ....rows import Floats
from ....text import plural
from ...drawing import Drawing, lacks_labels
from ...evidence import Evidence
from ...points import NOWHERE, Addresses, answering, answers, format_signed
from ...theme import BAND, FAILED, PASSED, TOO_FAR, caption, layer_charts

HEIGHT = 380
MAX_POINTS = 4_000  # more would overlap and make the SVG too large for a page
MARGIN = 0.22  # share of the axis reserved for the marginal histograms
BINS = 48
RING = "#cc79a7"
OUTCOMES = ("within δ", "too far", "other sign")
LOOKS = tuple(zip(OUTCOMES, (PASSED, TOO_FAR, FAILED), ("circle", "square", "triangle-up"), strict=True))


def delta_frame(
    table: PairTable,
    model: str,
    *,
    delta: float = 1.0,
    signs: Signs = "strict",
    human: pd.DataFrame | None = None,
    sentences: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Gather what the figure of one model shows.

    Columns ``pair_id``, ``good_id``, ``bad_id``, ``human_delta``, ``model_delta``, ``outcome``; pairs with
    both differences. If ``human`` has ``n`` and ``sd``, also ``ci_low`` and ``ci_high`` of the human
    difference (normal, 95 %); with texts, ``pair`` and ``identical`` (both members are the same string).
    """
    human_delta = table.human_delta.to_numpy(dtype=float)
    model_delta = table.model_delta[model].to_numpy(dtype=float)
    is_within = adc_met(human_delta, model_delta, delta=delta, signs=signs)
    agree = signs_agree(human_delta, model_delta, signs=signs)
    outcome = np.select([is_within, agree], OUTCOMES[:2], default=OUTCOMES[2])
    frame = table.pairs[["pair_id", "good_id", "bad_id"]].assign(
        human_delta=human_delta, model_delta=model_delta, outcome=outcome
    )
    if human is not None and {"n", "sd"} <= set(human.columns):
        variance = _variance(human, frame["good_id"]) + _variance(human, frame["bad_id"])
        half = pd.Series(1.96 * np.sqrt(variance), index=frame.index)
        frame = frame.assign(ci_low=frame["human_delta"] - half, ci_high=frame["human_delta"] + half)
    if sentences:
        good, bad = (frame[side].map(sentences).fillna("") for side in ("good_id", "bad_id"))
        frame = frame.assign(pair=good + " | " + bad, identical=(good == bad) & (good != ""))
    return frame[frame["human_delta"].notna() & frame["model_delta"].notna()]


def _variance(human: pd.DataFrame, ids: pd.Series) -> Floats:
    """Return squared standard errors of sentences."""
    spreads = human.set_index(human["sentence_id"].astype(str))[["sd", "n"]].astype(float).reindex(ids)
    variance: Floats = np.square(spreads["sd"].to_numpy(dtype=np.float64)) / spreads["n"].to_numpy(
        dtype=np.float64
    )
    return variance


def delta_figure(
    deltas: pd.DataFrame,
    *,
    model: str,
    delta: float = 1.0,
    signs: Signs = "strict",
    note: str = "",
    addresses: Addresses = NOWHERE,
) -> alt.LayerChart:
    """Draw human differences against a model's.

    Identity line, band of half-width ``delta``, shaded quadrants where signs differ, one point per pair,
    histograms of both differences at the edges; ``identical`` pairs have a ring.
    """
    require_columns(deltas, "pair_id", "human_delta", "model_delta", "outcome")
    if not len(deltas):
        raise NotEnoughData("no pair has differences of people and of the model.")
    visible = deltas if len(deltas) <= MAX_POINTS else deltas.sample(MAX_POINTS, random_state=0).sort_index()
    reach = float(np.ceil(deltas[["human_delta", "model_delta"]].abs().to_numpy().max() * 2) / 2)
    scale = alt.Scale(domain=[-reach, reach * (1 + MARGIN)], nice=False)
    ticks = alt.Axis(values=_ticks(reach))
    x = alt.X(
        "model_delta:Q",
        title=f"Δ {model} (sd of its scores)",
        scale=scale,
        axis=ticks,
    )
    y = alt.Y("human_delta:Q", title="Δ people (z)", scale=scale, axis=ticks)
    styles = [look for look in LOOKS if look[0] in set(deltas["outcome"])]
    outcomes, colours, shapes = (list(column) for column in zip(*styles, strict=True))
    passed = int((deltas["outcome"] == OUTCOMES[0]).sum())
    n_identical = int(deltas["identical"].sum()) if "identical" in deltas.columns else 0
    title = caption(
        "Differences of people and model",
        f"{plural(len(deltas), 'pair')}; {passed:,} ({passed / len(deltas):.1%}) "
        f"within δ = {delta:g} with the same sign (signs {signs}). Shaded: signs differ.",
        f"Rings: both members are the same string ({n_identical})." if n_identical else "",
        "Edges: histograms.",
        f"A random {len(visible)} of the pairs are drawn." if len(visible) < len(deltas) else "",
        note,
    )
    points = (
        answering(visible, names=visible["pair_id"], says=_says(visible), start=addresses.item)
        .mark_point(filled=True, size=26, opacity=0.65)
        .encode(
            **answers(addresses.item),
            x=x,
            y=y,
            tooltip=_tooltip(visible),
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
    layers = [
        *_ground(reach, delta),
        *_histograms(deltas, reach),
        *_intervals(visible, x),
        points,
        *_rings(visible, x, y),
    ]
    return layer_charts(layers, visible, height=HEIGHT, title=title)


def _says(deltas: pd.DataFrame) -> list[str]:
    names = deltas["pair"].where(deltas["pair"] != " | ", deltas["pair_id"]) if "pair" in deltas else None
    columns = (deltas["pair_id"] if names is None else names, deltas["human_delta"], deltas["model_delta"])
    return [
        f"{name}: Δ people {format_signed(human)}, Δ model {format_signed(model)}"
        for name, human, model in zip(*columns, strict=True)
    ]


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


def _ticks(reach: float) -> list[float]:
    step = 1.0 if reach <= 4 else 2.0
    return [float(tick) for tick in np.arange(-np.floor(reach / step) * step, reach + step / 2, step)]


def _histograms(deltas: pd.DataFrame, reach: float) -> list[alt.Chart]:
    """Histograms of the model's differences along the top and of human along the right."""
    edges = np.linspace(-reach, reach, BINS + 1)
    bars = []
    for field in ("model_delta", "human_delta"):
        counts = np.histogram(deltas[field], bins=edges)[0]
        height = reach * (1 + 0.9 * MARGIN * counts / max(counts.max(), 1))
        bars.append(pd.DataFrame({"low": edges[:-1], "high": edges[1:], "base": reach, "height": height}))
    top, right = (alt.Chart(bar).mark_rect(color="#80858e", opacity=0.55) for bar in bars)
    return [
        top.encode(x="low:Q", x2="high:Q", y="base:Q", y2="height:Q"),
        right.encode(y="low:Q", y2="high:Q", x="base:Q", x2="height:Q"),
    ]


def _intervals(visible: pd.DataFrame, x: alt.X) -> list[alt.Chart]:
    """Return the human interval of the pair under the pointer."""
    if "ci_low" not in visible.columns:
        return []
    under = alt.selection_point(on="pointerover", nearest=True, empty=False, fields=["pair_id"], name="under")
    opacity = alt.condition(under, alt.value(1), alt.value(0))
    bars = alt.Chart(visible).mark_rule(strokeWidth=1.5)
    return [bars.encode(x=x, y=alt.Y("ci_low:Q"), y2="ci_high:Q", opacity=opacity).add_params(under)]


def _rings(visible: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    if "identical" not in visible.columns or not visible["identical"].any():
        return []
    ring = alt.Chart(visible[visible["identical"]]).mark_point(
        size=150, filled=False, strokeWidth=2, color=RING
    )
    return [ring.encode(x=x, y=y)]


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
    frame = delta_frame(
        table, model, delta=delta, signs=evidence.signs, human=evidence.human, sentences=evidence.sentences
    )
    return delta_figure(
        frame,
        model=model,
        delta=delta,
        signs=evidence.signs,
        note=evidence.note,
        addresses=evidence.addresses,
    )


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
