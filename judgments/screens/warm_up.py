"""What the pages before the trials show: lines and their numbers, or the reference sentence."""

from typing import Any

from django.forms import Form

from judgments.models import Session
from judgments.screens.page import direction
from judgments.screens.warm_up_forms import LinesForm, ModulusForm
from judgments.sessions.protocol import Protocol
from judgments.sessions.warm_up import attempt_of
from judgments.tasks.line_lengths import REFERENCE_PX


def warm_up_context(kind: str, session: Session, protocol: Protocol, form: Form | None) -> dict[str, Any]:
    """Parts of one of these pages."""
    parts = protocol.task.screen(protocol.settings, shown={})
    if kind == "training":
        return {
            "form": form or LinesForm(session),
            "attempt": attempt_of(session),
            "parts": parts,
            "reference_px": REFERENCE_PX,
        }
    materials = session.experiment.materials
    language = materials.language if materials else protocol.language
    return {
        "form": form or ModulusForm(session),
        "parts": parts,
        "sentence": {"text": parts["reference"], "language": language, "direction": direction(language)},
    }
