"""Participants by response time and agreement with the others, those with quality signals marked."""

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ....quality.leave_one_out import correlations, means_of_others
from ....quality.report import LABELS, signal_table
from ....rows import column_or_blank, flags, group_codes, is_kind, joint_codes, numbers, tasks
from ....text import plural
from ...drawing import Drawing, lacks_kind
from ...evidence import Evidence
from ...points import NOWHERE, Addresses, answering, answers, format_signed
from ...theme import FAILED, PASSED, caption, layer_charts
from .response_times import participant_times_frame, time_axis

HEIGHT = 320
CHOICES = ("forced_choice", "yes_no")
MAJORITY = "share of answers with the majority of the others"
CORRELATION = "correlation with the means of the others"
STATES = (("no signal", PASSED, "circle"), ("quality signal or flag", FAILED, "triangle-up"))
MOST_DRAWN = 4_000  # points of an SVG that a browser draws without delay


def agreement_with_others(judgments: pd.DataFrame) -> tuple[pd.Series, str]:
    """Return each participant's agreement with the others, and the name of the measure.

    Notes
    -----
    Choices and yes–no: the share of answers that equal the majority of the other participants on the same
    item or sentence, where these have one. Ratings: Pearson's r with their means of the same sentence.
    """
    require_columns(judgments, "participant", "value")
    kinds = {str(name) for name in tasks(judgments).dropna().unique()}
    people = column_or_blank(judgments, "participant").astype(str).to_numpy()
    person, names = group_codes(pd.Series(people))
    if kinds and kinds <= set(CHOICES):
        return _majority_share(judgments, person, [str(name) for name in names]), MAJORITY
    beside = means_of_others(judgments)
    is_target = is_kind(judgments, ("target",))
    r, n = correlations(
        beside.rows & is_target, beside.values, beside.means, session=person, n_sessions=len(names)
    )
    return pd.Series(np.where(n >= 3, r, np.nan), index=[str(name) for name in names]), CORRELATION


def _majority_share(judgments: pd.DataFrame, person: np.ndarray, names: list[str]) -> pd.Series:
    value = numbers(judgments)
    is_answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    unit = "sentence_id" if set(tasks(judgments).dropna().unique()) == {"yes_no"} else "item"
    paradigm, _ = group_codes(column_or_blank(judgments, "paradigm"))
    item, _ = group_codes(column_or_blank(judgments, unit))
    stimulus, _, _ = joint_codes(paradigm, item)
    # Answers count from −1 to 1, so that the sign of the others' sum is their majority and 0 a tie.
    vote = np.where(is_answered, 2 * np.nan_to_num(value) - 1, 0.0)
    answer, _, of_stimulus = joint_codes(person, stimulus)
    votes_of_others = np.bincount(stimulus, weights=vote)[of_stimulus] - np.bincount(answer, weights=vote)
    side = np.sign(votes_of_others)[answer]
    is_decided = is_answered & (side != 0)
    n = np.bincount(person[is_decided], minlength=len(names))
    agreed = np.bincount(person[is_decided], weights=(vote * side > 0)[is_decided], minlength=len(names))
    return pd.Series(np.where(n > 0, agreed / np.maximum(n, 1), np.nan), index=names)


def agreement_and_time_frame(judgments: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return median response time, agreement with the others and quality signals of each participant."""
    times = participant_times_frame(judgments)
    agreement, measure = agreement_with_others(judgments)
    raised = signal_table(judgments).drop_duplicates(["participant", "signal"])
    reasons = raised.assign(label=raised["signal"].map(lambda name: LABELS.get(name, name)))
    signals = reasons.groupby("participant")["label"].agg("; ".join)
    flagged = column_or_blank(judgments, "flagged")
    manual = set(judgments.loc[np.nan_to_num(flags(flagged)) == 1, "participant"].astype(str))
    table = times.assign(
        agreement=times["participant"].map(agreement).astype(float),
        signals=times["participant"].map(signals).astype(object).fillna("").astype(str),
    )
    is_marked = (table["signals"] != "") | table["participant"].isin(manual)
    table = table.assign(state=np.where(is_marked, STATES[1][0], STATES[0][0]))
    columns = ["participant", "median_ms", "n", "agreement", "state", "signals"]
    return table[table["agreement"].notna()][columns].reset_index(drop=True), measure


def agreement_and_time_figure(
    people: pd.DataFrame, *, measure: str, note: str = "", addresses: Addresses = NOWHERE
) -> alt.LayerChart:
    """Draw a point per participant; quick participants who disagree are in the lower left corner."""
    require_columns(people, "participant", "median_ms", "n", "agreement", "state", "signals")
    if not len(people):
        raise NotEnoughData("no participant has response times and answers that others gave too.")
    # Participants with signals are drawn last, on top of the others.
    visible = people.sort_values("state", kind="stable").iloc[-MOST_DRAWN:]
    ends = [float(people["median_ms"].min()) / 1.2, float(people["median_ms"].max()) * 1.2]
    is_share = measure == MAJORITY
    low = min(0.0, float(people["agreement"].min()))
    styles = [look for look in STATES if look[0] in set(people["state"])]
    names, colours, shapes = (list(column) for column in zip(*styles, strict=True))
    columns = (visible[name] for name in ("participant", "median_ms", "agreement", "signals"))
    says = [
        f"{name}: median {time / 1000:.1f} s, {_amount(value, is_share)}{'; ' + signals if signals else ''}"
        for name, time, value, signals in zip(*columns, strict=True)
    ]
    points = answering(visible, names=visible["participant"], says=says, start=addresses.participant)
    dots = points.mark_point(filled=True, size=48, opacity=0.75).encode(
        **answers(addresses.participant),
        x=time_axis("median_ms", ends),
        y=alt.Y(
            "agreement:Q",
            title=measure,
            scale=alt.Scale(domain=[low, 1], nice=False),
            axis=alt.Axis(format="%" if is_share else ".1f"),
        ),
        color=alt.Color("state:N", title=None, scale=alt.Scale(domain=names, range=colours)),
        shape=alt.Shape("state:N", title=None, scale=alt.Scale(domain=names, range=shapes)),
    )
    n_marked = int((people["state"] == STATES[1][0]).sum())
    title = caption(
        "Participants by time and agreement",
        f"{plural(len(people), 'participant')}, {n_marked} with quality signals or flags. Across: median "
        f"response time over targets. Up: {measure}.",
        f"{MOST_DRAWN:,} are drawn." if len(people) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([dots], people, height=HEIGHT, title=title)


def _amount(value: float, is_share: bool) -> str:
    return f"{value:.0%} with the majority" if is_share else f"r = {format_signed(value)} with the others"


def _draw(evidence: Evidence) -> alt.LayerChart:
    people, measure = agreement_and_time_frame(evidence.everyone)
    return agreement_and_time_figure(
        people, measure=measure, note=evidence.note_before, addresses=evidence.addresses
    )


DRAWINGS = (
    Drawing(
        name="participants-agreement",
        number=6,
        title="Participants by time and agreement",
        shows="A dot per participant, the median response time against agreement with the others",
        needs="response times",
        about="study",
        lacking=lacks_kind("target", "rt_ms"),
        draw=_draw,
    ),
)
