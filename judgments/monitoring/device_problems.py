"""Problems of participants' devices: events that the signals read and the live page counts."""

import re

from django.db.models import Count

from experiments.models import Experiment
from judgments.models import SessionEvent
from judgments.sessions.payload import STORAGE

NO_ENGINE, MISSING_GLYPHS = "no_engine", "missing_glyphs"
LABELS = {
    NO_ENGINE: "Plain form shown: the trial engine did not start",
    STORAGE: "Browser storage failed or did not respond",
    MISSING_GLYPHS: "Signs of a stimulus missing from the device's fonts",
    "back": "Trial reached by Back or Forward",
    "shown_again": "Trial left and shown again",
}
ENGINES = (  # in this order: every browser names older ones beside its own
    (r"Firefox/(\d+)", "Firefox"),
    (r"(?:Chrome|Chromium)/(\d+)", "Chromium"),
    (r"Version/(\d+).*Safari/", "WebKit"),
    (r"AppleWebKit/(\d+)", "WebKit"),
)


def engine_name(user_agent: str) -> str:
    """Return engine and main version of a browser; other details could identify a participant."""
    for pattern, name in ENGINES:
        if found := re.search(pattern, user_agent):
            return f"{name} {found[1]}"
    return "unknown"


def device_problem_counts(study: Experiment) -> list[tuple[str, int]]:
    """Count the sessions with each kind of problem, previews and pilots left out."""
    events = SessionEvent.objects.filter(session__experiment=study, session__is_test=False, kind__in=LABELS)
    counts = dict(events.order_by().values_list("kind").annotate(n=Count("session", distinct=True)))
    return [(label, counts[kind]) for kind, label in LABELS.items() if kind in counts]
