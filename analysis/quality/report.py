"""All quality signals of a frame of judgments in one table."""

from collections.abc import Sequence

import pandas as pd

from ..columns import require_columns
from ..errors import UnknownName
from ..rows import column_or_blank
from . import (
    attention_checks,
    coherence,
    duplicates,
    engagement,
    leave_one_out,
    model_agreement,
    response_patterns,
)
from .base import RESULT, Signal, session_codes

SIGNALS: dict[str, Signal] = {
    signal.name: signal
    for signal in (
        attention_checks.CATCH_TRIALS,
        engagement.HONEYPOT,
        response_patterns.STRAIGHT_LINING,
        response_patterns.SIDE_BIAS,
        response_patterns.SPEED,
        response_patterns.CONTEXT_SPEED,
        engagement.UNTRUSTED,
        engagement.FOCUS,
        engagement.PASTE,
        engagement.PLAIN_FORM,
        engagement.STORAGE,
        engagement.MISSING_GLYPHS,
        engagement.COARSE_TIME,
        duplicates.SIGNAL,
        coherence.IMPOSSIBLE_TIME,
        coherence.BEFORE_ONSET,
        coherence.ONE_DELIVERY,
        coherence.ENGINE_FACTS,
        leave_one_out.SIGNAL,
        attention_checks.LINE_TRAINING,
    )
}
LABELS = {name: signal.label for name, signal in SIGNALS.items()}
LABELS[model_agreement.NAME] = model_agreement.LABEL


def signal_table(
    judgments: pd.DataFrame,
    *,
    scores: pd.DataFrame | None = None,
    pairs: pd.DataFrame | None = None,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Compute all flags: one row per session and signal."""
    require_columns(judgments, "participant", "value")
    if unknown := [name for name in names or () if name not in LABELS]:
        raise UnknownName("signal", unknown[0], sorted(LABELS))
    selected = set(names if names is not None else LABELS)
    parts = [
        _raised_flags(signal.measure(judgments), name, signal.version)
        for name, signal in SIGNALS.items()
        if name in selected
    ]
    if scores is not None and model_agreement.NAME in selected:
        measure = model_agreement.model_agreement(judgments, scores, pairs=pairs)
        parts.append(_raised_flags(measure, model_agreement.NAME, model_agreement.VERSION))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(RESULT))
    table["participant"] = table["session"].map(_participant_of_session(judgments))
    return table.sort_values(["session", "signal"], kind="stable", ignore_index=True)[list(RESULT)]


def _raised_flags(measure: pd.DataFrame, name: str, version: int) -> pd.DataFrame:
    raised = measure[measure["flagged"].astype(bool)]
    return pd.DataFrame(
        {
            "session": raised.index.to_numpy(dtype=object),
            "signal": name,
            "version": version,
            "value": raised["value"].to_numpy(),
            "reason": raised["reason"].to_numpy(dtype=object),
        }
    )


def _participant_of_session(judgments: pd.DataFrame) -> dict[str, str]:
    """Return the participant of each session."""
    session, labels = session_codes(judgments)
    first = pd.Series(range(len(session))).groupby(session).first()
    people = column_or_blank(judgments, "participant").to_numpy(dtype=object)
    return {labels[code]: str(people[row]) for code, row in zip(first.index, first, strict=True)}
