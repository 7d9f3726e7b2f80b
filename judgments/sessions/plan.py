"""The plan of a session, sent to the browser once: sentences and opaque ids, no condition and no key."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import ngettext

from experiments.materials.markup import as_nodes, paragraphs
from judgments.models import Session
from judgments.sessions.given import GivenTrial
from judgments.sessions.protocol import protocol_of

FORMAT = 1
ENGINE = "1.1.1"


def plan_of(session: Session, trials: Sequence[GivenTrial], *, sentence_of: Any) -> dict[str, Any]:
    """Everything a browser needs to go through the trials without asking again.

    ``sentence_of`` turns what was shown into text, language and direction. Kinds other than practice
    are not told apart, and no trial says which answer is expected. The caller speaks the study's language.
    """
    protocol, minutes = protocol_of(session.version), session.experiment.lease_minutes
    kept = ngettext(
        "Your place is kept for %(minutes)s minute.", "Your place is kept for %(minutes)s minutes.", minutes
    )
    parts = [protocol.task.screen(protocol.settings, shown=trial.shown) for trial in trials]
    common = parts[0] if parts else {}
    return {
        "format": FORMAT,
        "engine": ENGINE,
        "study_version": session.version.sha256[:12],
        "language": protocol.language,
        "task": {
            "name": protocol.task.name,
            "question": protocol.settings["question"],
            "parts": common,
        },
        "instructions": protocol.instructions.strip(),
        "instructions_nodes": [as_nodes(part) for part in paragraphs(protocol.instructions)],
        "place_kept": kept % {"minutes": minutes},
        "resume_gap_s": round(protocol.resume_gap.total_seconds()),
        "n_blocks": max((trial.block for trial in trials if trial.kind != "practice"), default=1),
        "trials": [
            _trial(trial, common=common, parts=own, sentence_of=sentence_of)
            for trial, own in zip(trials, parts, strict=True)
        ],
    }


def _trial(
    trial: GivenTrial, *, common: dict[str, Any], parts: dict[str, Any], sentence_of: Any
) -> dict[str, Any]:
    planned: dict[str, Any] = {
        "id": trial.public_id,
        "position": trial.position,
        "block": trial.block,
        "is_practice": trial.kind == "practice",
        "options": [sentence_of(one) for one in trial.shown.get("options", ())],
        "sentence": sentence_of(trial.shown) if "text" in trial.shown else None,
        "is_answered": trial.is_answered,
    }
    return planned if parts == common else {**planned, "parts": parts}
