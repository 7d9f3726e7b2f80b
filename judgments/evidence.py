"""What was noted beside the answers, as columns of a judgment frame: for quality signals only.

These columns are fetched when a signal is asked for, and are part of no export: they describe how
somebody used a browser.
"""

from typing import Any

import numpy as np
import pandas as pd

from analysis.quality.speed import reading_length
from experiments.models import Experiment, MinimalPair, Sentence
from judgments.frames import judgment_frame
from judgments.models import Judgment, Session, SessionEvent
from judgments.sessions.warm_up import failed_training

NOTED = {  # columns by the names under which the engine notes them
    "focus_lost_ms": "focus_lost_ms",
    "page_hidden_ms": "page_hidden_ms",
    "is_trusted": "trusted",
    "pasted": "pasted",
    "early_answers": "early_answers",
    "coarse_clock": "coarse_clock",
}


def evidence_frame(experiment: Experiment) -> pd.DataFrame:
    """Every judgment of a study with what its signals read; people who withdrew are left out."""
    frame = judgment_frame(experiment)
    trials = frame["trial"].astype("int64").to_numpy()
    noted = _noted(experiment)
    columns: dict[str, Any] = {
        column: [noted.get(trial, {}).get(name) for trial in trials] if noted else None
        for column, name in NOTED.items()
    }
    return frame.assign(
        **columns,
        n_characters=_lengths(experiment, frame),
        honeypot=_honeypot(experiment, frame),
        device=_devices(experiment, frame),
        lines_failed=_lines_failed(experiment, frame),
    )


def _noted(experiment: Experiment) -> dict[int, dict[str, Any]]:
    """What the browser noted, by trial."""
    rows = Judgment.objects.filter(trial__session__experiment=experiment).exclude(timing={})
    return {
        trial: timing
        for trial, timing in rows.values_list("trial_id", "timing").iterator(chunk_size=5000)
        if isinstance(timing, dict)
    }


def _lengths(experiment: Experiment, frame: pd.DataFrame) -> np.ndarray:
    """Characters to read: of the rated sentence, or of the longer one of a pair."""
    texts = Sentence.objects.filter(material_set=experiment.materials_id).values_list("key", "text")
    single = {key: reading_length(text) for key, text in texts}
    members = MinimalPair.objects.filter(material_set=experiment.materials_id)
    longer = {
        key: max(single[good], single[bad])
        for key, good, bad in members.values_list("key", "good__key", "bad__key")
    }
    of_pair = frame["pair_id"].astype(object).map(longer)
    found = of_pair.where(of_pair.notna(), frame["sentence_id"].astype(object).map(single))
    return pd.to_numeric(found, errors="coerce").to_numpy(dtype=np.float64)


def _devices(experiment: Experiment, frame: pd.DataFrame) -> pd.Series:
    """What the study knows of the browser's token; empty where it knows nothing."""
    rows = Session.objects.filter(experiment=experiment).exclude(device="")
    known = {str(pk): device for pk, device in rows.values_list("pk", "device")}
    found = [known.get(session, "") for session in frame["session"].astype(str)]
    return pd.Series(found, index=frame.index, dtype=object)


def _honeypot(experiment: Experiment, frame: pd.DataFrame) -> pd.Series | None:
    """Whether the hidden field came back filled; nothing is known where no questionnaire was shown."""
    if not experiment.questionnaire:
        return None
    events = SessionEvent.objects.filter(session__experiment=experiment, kind="honeypot")
    filled = {str(pk) for pk in events.values_list("session_id", flat=True)}
    return frame["session"].astype(str).isin(filled)


def _lines_failed(experiment: Experiment, frame: pd.DataFrame) -> pd.Series | None:
    """Whether the exercise with lines was failed; nothing is known of who went on without it."""
    found = {str(session): failed for session, failed in failed_training(experiment).items()}
    return frame["session"].astype(str).map(found) if found else None
