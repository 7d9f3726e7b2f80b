"""Display and measurements of each answer: columns of the team's download and of the quality signals.

The columns of :func:`evidence_frame` describe how a participant used the browser, and are part of no export.
"""

import json
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from django.db.models import QuerySet

from analysis.columns import CONTRACT
from analysis.quality.response_patterns import reading_length
from analysis.text import no_formula
from experiments.materials.schema import CONTEXT as CONTEXT_KEY
from experiments.models import Experiment, MinimalPair, Sentence, TrialKind
from judgments.frames.build import judgment_frame
from judgments.models import Judgment, Participant, PlatformIdentity, Session, SessionEvent
from judgments.monitoring.device_problems import NO_ENGINE
from judgments.sessions.payload import STORAGE
from judgments.sessions.pretrial import failed_training

#: Keys of ``Judgment.timing`` with a column of their own; a task's further keys are in ``more``.
MEASURES = (
    "engine",
    "task_version",
    "focus_lost_ms",
    "page_hidden_ms",
    "instructions_ms",
    "trusted",
    "early_answers",
    "early_ms",
    "held_keys",
    "key",
    "place",
    "layout",
    "lines",
    "lines_differ",
    "letter_px",
    "orientation",
    "scale_size",
    "width_changes",
    "between_ms",
    "context_ms",
    "context_planned_ms",
    "context_away_ms",
    "late_ms",
    "press_ms",
    "changes",
    "confirm_ms",
    "first_key_ms",
    "pasted",
    "refused_answers",
    "first_touch_ms",
    "last_touch_ms",
    "clock_step_ms",
    "coarse_clock",
    "frame_ms",
    "paint_ms",
    "coarse_painting",
    "missing_glyphs",
    "viewport",
    "loaded_by",
    "from_kept",
    "seen_before",
    "restored",
    "shown_again_ms",
    "by_form",
    "clock_offset_ms",
    "clock_backwards",
    "odd_clock",
    "odd_rt",
    "no_rt",
    "server_ms",
    "simulated",
)
OF_TRIAL = ("kind", "list", "status", "correct")
CONTEXT = ("version", "check", "shown", "context", "input_type", "answered_at", "received_at")
STORED = (
    *("trial", "trial__kind", "trial__correct", "trial__shown", "trial__session__version__number"),
    *("input_type", "answered_at", "received_at", "timing"),
)
COLUMNS = [*CONTRACT, *OF_TRIAL, *CONTEXT, *MEASURES, "more"]


def with_measures(block: pd.DataFrame) -> pd.DataFrame:
    """A block of a frame with :data:`CONTEXT`, :data:`MEASURES` and ``more``; missing cells are None."""
    judgments = Judgment.objects.filter(trial__in=[int(trial) for trial in block["trial"].unique()])
    stored = {str(row["trial"]): _cells(row) for row in judgments.values(*STORED).iterator()}
    blank: list[Any] = [None] * (len(COLUMNS) - len(CONTRACT) - len(OF_TRIAL))
    cells = [stored.get(str(trial), blank) for trial in block["trial"]]
    names = [*CONTEXT, *MEASURES, "more"]
    columns = {
        name: pd.Series(values, index=block.index, dtype=object)
        for name, values in zip(names, zip(*cells, strict=True), strict=True)
    }
    return block.assign(**(columns or dict.fromkeys(names)))


def with_context_times(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """Add ``context_ms`` to a frame where a version shows contexts on a separate screen."""
    if not experiment.versions.filter(snapshot__context_display=Experiment.ContextDisplay.BEFORE).exists():
        return frame
    rows = Judgment.objects.filter(trial__session__experiment=experiment, timing__has_key="context_ms")
    times = dict(rows.values_list("trial", "timing__context_ms"))
    return frame.assign(context_ms=frame["trial"].astype("int64").map(times).astype("Int64"))


def _cells(row: dict[str, Any]) -> list[Any]:
    """One judgment's cells; the texts in the order of the screen and the other measurements as JSON."""
    timing = row["timing"] if isinstance(row["timing"], dict) else {}
    more = {name: value for name, value in timing.items() if name not in {*MEASURES, "position"}}
    is_catch = row["trial__kind"] == TrialKind.CATCH
    return [
        row["trial__session__version__number"],
        (row["trial__correct"] or {}).get("check", "gold") if is_catch else None,
        _json(_texts(row["trial__shown"])),
        _contexts(row["trial__shown"]),
        row["input_type"],
        _timestamp(row["answered_at"]),
        _timestamp(row["received_at"]),
        *(_cell(timing.get(name)) for name in MEASURES),
        _json(more) if more else None,
    ]


def _texts(screen: Any) -> list[str]:
    """The sentences of a screen, in their order."""
    screen = screen if isinstance(screen, dict) else {}
    return [str(option["text"]) for option in screen.get("options") or [screen] if "text" in option]


def _contexts(screen: Any) -> str | None:
    """The contexts of a screen as JSON: one for all of its sentences, or one for each in their order."""
    screen = screen if isinstance(screen, dict) else {}
    texts = [str(option.get("context", "")) for option in screen.get("options") or ()]
    texts = texts if any(texts) else [str(screen.get("context", ""))]
    return _json(texts) if any(texts) else None


def _cell(value: Any) -> Any:
    """A measurement, as JSON where it is a list or an object."""
    return _json(value) if isinstance(value, list | dict) else no_formula(value)


def _timestamp(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds") if at else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


TIMING_KEYS = {  # keys of ``Judgment.timing`` by column
    "focus_lost_ms": "focus_lost_ms",
    "page_hidden_ms": "page_hidden_ms",
    "is_trusted": "trusted",
    "pasted": "pasted",
    "early_answers": "early_answers",
    "coarse_clock": "coarse_clock",
    "clock_offset_ms": "clock_offset_ms",
    "clock_backwards": "clock_backwards",
}
ENGINE_FACTS = {"engine", "task_version", "clock_step_ms", "viewport", "focus_lost_ms", "page_hidden_ms"}
DEVICE_COLUMNS = ("by_plain_form", "storage_failed", "has_missing_glyphs", "has_coarse_time")
COHERENCE_COLUMNS = ("started_ms", "received_ms", "answered_ms", "is_measured")
STORED_EVIDENCE = ("trial_id", "timing", "input_type", "answered_at", "received_at")


def evidence_frame(experiment: Experiment) -> pd.DataFrame:
    """Every judgment of a study with the columns of the quality signals, without withdrawn sessions."""
    frame = judgment_frame(experiment)
    evidence = _browser_evidence(experiment)
    cells = [evidence.get(trial, NO_EVIDENCE) for trial in frame["trial"].astype("int64").tolist()]
    columns: dict[str, Any] = {
        column: [row.timing.get(key) for row in cells] if evidence else None
        for column, key in TIMING_KEYS.items()
    }
    return frame.assign(
        **columns,
        **_device_columns(experiment, frame, cells),
        **_coherence_columns(experiment, frame, cells),
        n_characters=_lengths(experiment, frame),
        **_context_columns(experiment, frame, cells),
        honeypot=_honeypot(experiment, frame),
        device=_devices(experiment, frame),
        claimed_id=_claimed_ids(experiment, frame),
        lines_failed=_lines_failed(experiment, frame),
    )


class BrowserEvidence(NamedTuple):
    """The measurements and clocks beside one answer."""

    timing: dict[str, Any]
    input_type: str
    answered_at: datetime | None
    received_at: datetime | None


NO_EVIDENCE = BrowserEvidence({}, Judgment.InputType.IMPORTED.value, None, None)


def _browser_evidence(experiment: Experiment) -> dict[int, BrowserEvidence]:
    """The evidence beside each answer that came from a browser or program, by trial."""
    rows = Judgment.objects.filter(trial__session__experiment=experiment).exclude(
        timing={}, input_type=Judgment.InputType.IMPORTED
    )
    return {
        trial: BrowserEvidence(timing if isinstance(timing, dict) else {}, *evidence)
        for trial, timing, *evidence in rows.values_list(*STORED_EVIDENCE).iterator(chunk_size=5000)
    }


def _device_columns(
    experiment: Experiment, frame: pd.DataFrame, cells: list[BrowserEvidence]
) -> dict[str, Any]:
    """Problems of the participant's device by answer; None for answers without evidence."""
    events = SessionEvent.objects.filter(session__experiment=experiment)
    failed = _session_ids(events.filter(kind=STORAGE).exclude(details__what="copy"))
    plain = _session_ids(events.filter(kind=NO_ENGINE))
    columns: dict[str, list[bool | None]] = {name: [] for name in DEVICE_COLUMNS}
    for cell, session in zip(cells, frame["session"].astype(str), strict=True):
        is_form, timing = cell.input_type == Judgment.InputType.FORM, cell.timing
        is_measured = not is_form and "engine" in timing
        is_coarse = timing.get("coarse_clock") is True or timing.get("coarse_painting") is True
        values = (
            session in plain if is_form else False if is_measured else None,
            session in failed if is_measured else None,
            "missing_glyphs" in timing if is_measured else None,
            is_coarse if is_measured else None,
        )
        for name, value in zip(DEVICE_COLUMNS, values, strict=True):
            columns[name].append(value)
    return dict(columns)


def _session_ids(events: "QuerySet[SessionEvent]") -> set[str]:
    return {str(pk) for pk in events.values_list("session_id", flat=True)}


def _coherence_columns(
    experiment: Experiment, frame: pd.DataFrame, cells: list[BrowserEvidence]
) -> dict[str, Any]:
    """Clocks in ms, and whether an answer has the engine's facts where the engine is expected to send them.

    Imported judgments and simulated participants have none of these; plain forms have no facts.
    """
    participants = Participant.objects.filter(experiment=experiment, is_simulated=True)
    simulated = set(participants.values_list("pseudonym", flat=True))
    starts = Session.objects.filter(experiment=experiment).values_list("pk", "started_at")
    started_ms = {str(pk): _epoch_ms(at) for pk, at in starts}
    columns: dict[str, list[Any]] = {name: [] for name in COHERENCE_COLUMNS}
    for cell, participant, session in zip(
        cells, frame["participant"].astype(str), frame["session"].astype(str), strict=True
    ):
        is_live = cell.input_type != Judgment.InputType.IMPORTED and participant not in simulated
        values = (
            (
                started_ms.get(session),
                _epoch_ms(cell.received_at),
                _epoch_ms(cell.answered_at),
                _is_measured(cell),
            )
            if is_live
            else (None,) * len(COHERENCE_COLUMNS)
        )
        for name, value in zip(COHERENCE_COLUMNS, values, strict=True):
            columns[name].append(value)
    return dict(columns)


def _is_measured(cell: BrowserEvidence) -> bool | None:
    """Whether an answer has the time and the facts that the engine sends; None for a plain form."""
    if cell.input_type == Judgment.InputType.FORM:
        return None
    return cell.answered_at is not None and cell.timing.keys() >= ENGINE_FACTS


def _epoch_ms(at: datetime | None) -> float | None:
    return at.timestamp() * 1000 if at else None


def _lengths(experiment: Experiment, frame: pd.DataFrame) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Characters to read: of the rated sentence, or of the longer one of a pair.

    Contexts do not count: participants need not read again a context that several trials share.
    """
    texts = Sentence.objects.filter(material_set=experiment.materials_id).values_list("key", "text")
    single = {key: reading_length(text) for key, text in texts}
    members = MinimalPair.objects.filter(material_set=experiment.materials_id)
    longer = {
        key: max(single[good], single[bad])
        for key, good, bad in members.values_list("key", "good__key", "bad__key")
    }
    of_pair = frame["pair_id"].astype(object).map(longer)
    lengths = of_pair.where(of_pair.notna(), frame["sentence_id"].astype(object).map(single))
    return pd.to_numeric(lengths, errors="coerce").to_numpy(dtype=np.float64)


def _context_columns(
    experiment: Experiment, frame: pd.DataFrame, cells: list[BrowserEvidence]
) -> dict[str, Any]:
    """How long participants read contexts that they left themselves, and their characters."""
    times = [None if "context_planned_ms" in cell.timing else cell.timing.get("context_ms") for cell in cells]
    if not any(times):
        return {"context_read_ms": None, "n_context_characters": None}
    rows = Sentence.objects.filter(material_set=experiment.materials_id, attributes__has_key=CONTEXT_KEY)
    lengths = {sentence.key: reading_length(sentence.context) for sentence in rows.iterator()}
    return {
        "context_read_ms": times,
        "n_context_characters": frame["sentence_id"].astype(object).map(lengths),
    }


def _devices(experiment: Experiment, frame: pd.DataFrame) -> "pd.Series[str]":
    """Hash of the browser's token by row; empty where the browser sent none."""
    rows = Session.objects.filter(experiment=experiment).exclude(device="")
    device_of = {str(pk): device for pk, device in rows.values_list("pk", "device")}
    devices = [device_of.get(session, "") for session in frame["session"].astype(str)]
    return pd.Series(devices, index=frame.index, dtype=object)


def _claimed_ids(experiment: Experiment, frame: pd.DataFrame) -> "pd.Series[str]":
    """A number shared by participants whose links had the same id; empty without one."""
    rows = PlatformIdentity.objects.filter(experiment=experiment).exclude(external_digest="")
    numbers: dict[str, int] = {}
    number_of = {
        pseudonym: numbers.setdefault(external_id, len(numbers) + 1)
        for pseudonym, external_id in rows.values_list("participant__pseudonym", "external_id")
    }
    claimed = [str(number_of.get(name, "")) for name in frame["participant"].astype(str)]
    return pd.Series(claimed, index=frame.index, dtype=object)


def _honeypot(experiment: Experiment, frame: pd.DataFrame) -> "pd.Series[bool] | None":
    """Whether the hidden field was filled in; None where no questionnaire was shown."""
    if not experiment.questionnaire:
        return None
    events = SessionEvent.objects.filter(session__experiment=experiment, kind="honeypot")
    filled = {str(pk) for pk in events.values_list("session_id", flat=True)}
    return frame["session"].astype(str).isin(filled)


def _lines_failed(experiment: Experiment, frame: pd.DataFrame) -> "pd.Series[Any] | None":
    """Whether the line training was failed; missing where the participant did not do it."""
    failed_by_session = {str(session): failed for session, failed in failed_training(experiment).items()}
    return frame["session"].astype(str).map(failed_by_session) if failed_by_session else None
