"""What a trial's page shows: sentences, opaque ids, the task's own parts. Nothing else leaves the server."""

from functools import cache
from typing import Any

from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.translation import gettext as _

from experiments.materials.markup import as_nodes, plain
from judgments.screens.page import direction
from judgments.sessions.advance import Step
from judgments.sessions.protocol import Protocol

MODULES = (
    "choose",
    "digits",
    "dom",
    "kept",
    "keys",
    "queue",
    "run",
    "screens",
    "sender",
    "status",
    "tabs",
    "timing",
)


def trial_context(step: Step, protocol: Protocol, *, problem: str = "", given: str = "") -> dict[str, Any]:
    """Parts of a trial's page."""
    trial = step.trial
    return {
        "public_id": trial.public_id,
        "task": protocol.task.name,
        "task_script": task_script(protocol.task.name),
        "engine_modules": engine_modules(),
        "task_template": f"judgments/tasks/{protocol.task.name}.html",
        "question": protocol.settings["question"],
        "is_practice": trial.kind == "practice",
        "options": [sentence_context(one) for one in trial.shown.get("options", ())],
        "sentence": sentence_context(trial.shown) if "text" in trial.shown else None,
        "parts": protocol.task.screen(protocol.settings, shown=trial.shown),
        "problem": problem,
        "given": given,
        "chosen": protocol.task.fields(given),
    }


@cache
def task_script(name: str) -> str:
    """Address of the task's script, empty for a task that has none and stays a plain form."""
    path = f"js/tasks/{name}.js"
    return static(path) if finders.find(path) else ""


@cache
def engine_modules() -> list[str]:
    """Addresses of the engine's modules beside its start, so that a browser asks for all of them at once."""
    return [static(f"js/engine/{name}.js") for name in MODULES]


def sentence_context(shown: dict[str, Any]) -> dict[str, Any]:
    """A sentence under its opaque id, with its language and direction, and its parts where it has markup."""
    text, parts = shown["text"], {}
    if shown.get("markup"):
        text, parts = plain(text), {"nodes": as_nodes(text)}
    return {
        "id": shown.get("id", ""),
        "text": text,
        "language": shown["language"],
        "direction": direction(shown["language"]),
        **parts,
    }


def feedback_context(step: Step, protocol: Protocol) -> dict[str, Any]:
    """What was answered in a practice trial, and what is said about it."""
    trial = step.trial
    shown = [sentence_context(one) for one in trial.shown.get("options", ())] or [
        sentence_context(trial.shown)
    ]
    task = protocol.task
    parts = task.screen(protocol.settings, shown=trial.shown)
    is_correct = trial.judgment.is_correct
    answers = [one for one in shown if one["id"] and one["id"] == trial.judgment.response.partition(" ")[0]]
    return {
        "is_correct": is_correct,
        "feedback": trial.correct.get("feedback", ""),
        "sentences": answers or shown if len(shown) < 3 else (answers or shown)[:1],
        "response": "" if answers else _response(trial.judgment.response, protocol, parts),
        "value": trial.judgment.value,
        "parts": parts,
        "answer_templates": [f"judgments/tasks/{task.name}_answer.html", "judgments/_answer.html"],
    }


def _response(response: str, protocol: Protocol, parts: dict[str, Any]) -> str:
    """The answer as the participant saw it: a point of a scale with its words, or a button's."""
    for point in parts.get("points", ()):
        if str(point["value"]) == response:
            return f"{response} {point['label']}".rstrip()
    return str(protocol.settings.get(f"{response}_label", response))


def progress(step: Step) -> dict[str, Any]:
    """Honest progress: blocks where there are several, else trials."""
    if step.trial is None or step.screen not in {"trial", "break"}:
        return {}
    if step.trial.kind == "practice":
        return {"text": _("Practice")}
    if step.n_blocks > 1:
        now = step.trial.block - (step.screen == "break")
        marks = [
            "done" if n < now or step.screen == "break" and n <= now else "now" if n == now else "ahead"
            for n in range(1, step.n_blocks + 1)
        ]
        text = _("Block %(now)s of %(all)s") % {"now": now, "all": step.n_blocks}
        return {"text": text, "blocks": marks, "now": now, "all": step.n_blocks}
    now = min(step.n_answered + 1, step.n_trials)
    return {"text": _("%(now)s of %(all)s") % {"now": now, "all": step.n_trials}}
