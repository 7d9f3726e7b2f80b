"""Trial pages: context of trials and feedback, texts of the engine, phrases, and the plan document."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from django.contrib.staticfiles import finders
from django.template import Context
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language

from analysis.plugins.registry import Plugin
from analysis.text import phrases
from experiments.materials.markup import as_nodes
from experiments.materials.schema import CONTEXT
from experiments.stimuli.composition import Frame, compose
from experiments.studies.languages import direction, interface_translation, translated_messages
from experiments.studies.targets import seconds_per_trial
from experiments.studies.wording import active_texts
from experiments.studies.wording import gettext as _
from experiments.tasks.base import Task
from judgments.models import Judgment, Session, Trial
from judgments.sessions.navigation import Step, session_trials
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.sessions.trials import trial_plan

MODULES = (
    "choose",
    "digits",
    "dom",
    "offline_copy",
    "keys",
    "layout",
    "queue",
    "run",
    "screens",
    "sender",
    "status",
    "tabs",
    "timing",
)


def trial_phrases(text: str, language: str) -> tuple[str, ...]:
    """Return the phrases of a text written without spaces; the whole text in other languages.

    Examples
    --------
    >>> trial_phrases("太郎が花子に会ったことを知らない。", "ja")
    ('太郎が', '花子に', '会った', 'ことを', '知らない。')
    >>> trial_phrases("She left.", "en")
    ('She left.',)
    """
    model = model_name(language)
    return phrases(text, model) if model else (text,)


def model_name(language: str) -> str:
    """Return the model of a language tag: ``ja``, ``zh-hans`` or ``zh-hant``; empty for other languages.

    Examples
    --------
    >>> [model_name(tag) for tag in ("ja-JP", "zh", "zh-Hant", "zh_TW", "yue", "de")]
    ['ja', 'zh-hans', 'zh-hant', 'zh-hant', 'zh-hant', '']
    """
    primary, *subtags = language.replace("_", "-").casefold().split("-")
    if primary == "ja":
        return "ja"
    if primary not in {"zh", "cmn", "yue"}:
        return ""
    is_traditional = {"hant", "tw", "hk", "mo"} & set(subtags) or primary == "yue" and "hans" not in subtags
    return "zh-hant" if is_traditional else "zh-hans"


def engine_texts() -> dict[str, str]:
    """All texts of the engine; the same sentences as on the pages without JavaScript."""
    return _texts_in(get_language(), active_texts())


@lru_cache(maxsize=100)
def _texts_in(language: str | None, texts_of_study: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {
        "saved": _("Answers saved"),
        "saving": _("Saving your answers"),
        "reconnecting": _("Reconnecting. Answers kept on this device: %(n)s"),
        "memory_only": _("Reconnecting. Answers kept on this page only: %(n)s. Please leave it open."),
        "barred": _("Answers to be saved with the next page: %(n)s. Please leave this page open."),
        "saved_memory": _(
            "Answers saved. This browser cannot keep answers on this device: please leave the page open."
        ),
        "leave_open": _("This browser cannot keep answers on this device: please leave the page open."),
        "next": _("Next"),
        "go_on": _("Go on"),
        "begin": _("Begin"),
        "context": _("Context"),
        "continue": _("Continue"),
        "practice": _("Practice"),
        "practice_over": _("That was the practice"),
        "no_feedback": _(
            "Now the study itself begins. There is no feedback from here on, and no right or wrong: "
            "your own impression counts."
        ),
        "block_of": _("Block %(now)s of %(all)s"),
        "trial_of": _("%(now)s of %(all)s"),
        "block_done": _("Block %(now)s of %(all)s is done"),
        "no_clock": _("Take a moment if you like: no clock is running."),
        "comment": _("Comment by the researchers"),
        "minutes_left": _("about %(minutes)s min left"),
        "your_answer": _("Your answer:"),
        "you_chose": _("You chose this sentence."),
        "timed_out": _("The time for this answer was over."),
        "welcome_back": _("Welcome back"),
        "kept_so_far": _("Your answers so far are kept. You can go on where you stopped."),
        "instructions": _("Instructions"),
        "last_answers": _("Saving your last answers"),
        "please_wait": _(
            "Your completion code appears as soon as every answer is saved. Please leave this page open."
        ),
        "other_tab": _("This study is open in another tab"),
        "go_there": _("Please go on there. Nothing is lost: your answers so far are kept."),
        "use_this": _("Go on here instead"),
        "gone": _("This session cannot be found any more"),
        "too_early": _("That was very quick: please read first, then answer."),
        "reference": _("Reference"),
        "your_number": _("Your number"),
        "number_hint": _(
            "Twice as acceptable as the reference is %(twice)s, half as acceptable is %(half)s. "
            "Any number above 0 will do."
        ),
        "number_missing": _("Please type a number."),
        "number_form": _("Please type one number in digits, such as 80 or 62.5, without signs or words."),
        "number_two_ways": _(
            "%(typed)s can mean %(large)s or %(small)s. Please type the number that you mean."
        ),
        "number_positive": _(
            "Please type a number above 0. However bad a sentence is, there is a small number for it."
        ),
        "number_large": _("That number is too large to store. Please type a smaller one."),
        "choose": _("Please choose an answer."),
        "keys": _("Keys"),
    }


def trial_context(step: Step, protocol: Protocol, *, problem: str = "", response: str = "") -> dict[str, Any]:
    """Template context of a trial."""
    trial = step.current_trial
    content = screen_content(trial.shown, protocol)
    has_context_screen = protocol.has_context_screen(trial.shown)
    if has_context_screen and step.screen == "trial":
        del content[CONTEXT]
    return {
        "public_id": trial.public_id,
        "task": protocol.task.name,
        "task_script": task_script(protocol.task.name),
        "engine_modules": engine_modules(),
        "task_template": _task_template(protocol.task),
        "question": protocol.settings["question"],
        "is_practice": trial.kind == "practice",
        **content,
        "has_context_screen": has_context_screen,
        "is_plugin": protocol.task.plugin is not None,
        "parts": protocol.task.screen(protocol.settings, arrangement=trial.shown),
        "problem": problem,
        "response": response,
        "chosen": protocol.task.form_fields(response),
    }


def _task_template(task: Task) -> "str | PluginTemplate":
    name = f"judgments/tasks/{task.name}.html"
    return PluginTemplate(name, task.plugin) if task.plugin else name


@dataclass(frozen=True)
class PluginTemplate:
    """The template of a plugin's task for ``{% include %}``; its errors name the package."""

    name: str
    plugin: Plugin

    def render(self, context: Context) -> str:
        """Render the template in the context of the page."""
        try:
            assert context.template is not None
            return context.template.engine.get_template(self.name).render(context)
        except Exception as error:
            raise self.plugin.failure(error) from error


@cache
def task_script(name: str) -> str:
    """Address of the task's script; empty for a task without one, which is a plain form."""
    path = f"js/tasks/{name}.js"
    return static(path) if finders.find(path) else ""


@cache
def engine_modules() -> list[str]:
    """Addresses of the engine's modules except its start, for parallel preloading."""
    return [static(f"js/engine/{name}.js") for name in MODULES]


def screen_content(shown: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    """What a trial shows: its options or its sentence and, if any, the context before them all."""
    label = _("Context") if protocol.context_label else ""
    options = [sentence_context(option, label=label) for option in shown.get("options", ())]
    sentence = sentence_context(shown, label=label) if "text" in shown else None
    context = sentence.pop(CONTEXT, None) if sentence else None
    if options and CONTEXT in shown:
        context = sentence_context({**shown["options"][0], CONTEXT: shown[CONTEXT]}, label=label)[CONTEXT]
    content = {"options": options, "sentence": sentence}
    return {**content, CONTEXT: context} if context else content


def sentence_context(option: dict[str, Any], *, label: str = "") -> dict[str, Any]:
    """A sentence with its public id, language and direction; its nodes if it has markup, else its phrases.

    The phrases, of scripts without spaces, are the places where a line may break. A context of its own comes
    with its lines and, if any, its label in the language of the page.
    """
    language, is_marked = option["language"], bool(option.get("markup"))
    stimulus = compose(option["text"], context=option.get(CONTEXT, ""), is_marked=is_marked)
    parts = dict[str, Any]()
    if is_marked:
        parts = {"nodes": as_nodes(option["text"])}
    elif len(parts_of_text := trial_phrases(option["text"], language)) > 1:
        parts = {"phrases": list(parts_of_text)}
    if stimulus.context:
        parts[CONTEXT] = _context_frame(stimulus.context, language) | ({"label": label} if label else {})
    return {
        "id": option.get("id", ""),
        "text": stimulus.target.words,
        "language": language,
        "direction": direction(language),
        **parts,
    }


def _context_frame(frame: Frame, language: str) -> dict[str, Any]:
    """A context for the page: its lines as nodes; those of scripts without spaces with places to break."""
    lines = [
        [
            part
            for node in line
            for part in (trial_phrases(node, language) if isinstance(node, str) else [node])
        ]
        for line in frame.lines
    ]
    return {
        "lines": lines,
        "has_phrases": bool(model_name(language)),
        "is_dialogue": frame.is_dialogue,
        "language": language,
        "direction": direction(language),
    }


def feedback_context(step: Step, protocol: Protocol) -> dict[str, Any]:
    """Template context of the feedback on a practice trial."""
    trial = step.trial
    assert isinstance(trial, Trial)
    content = screen_content(trial.shown, protocol)
    sentences = content["options"] or [content["sentence"]]
    task = protocol.task
    parts = task.screen(protocol.settings, arrangement=trial.shown)
    is_correct, is_timed_out = trial.judgment.is_correct, trial.judgment.status == Judgment.Status.TIMED_OUT
    answers = [
        option
        for option in sentences
        if option["id"] and option["id"] == trial.judgment.response.partition(" ")[0]
    ]
    return {
        CONTEXT: content.get(CONTEXT),
        "is_timed_out": is_timed_out,
        "comment": ""
        if is_timed_out
        else trial.correct.get("feedback", "") or _practice_comment(is_correct, protocol),
        "sentences": answers or sentences if len(sentences) < 3 else (answers or sentences)[:1],
        "response": "" if answers else _response(trial.judgment.response, protocol, parts),
        "value": trial.judgment.value,
        "parts": parts,
        "answer_templates": [f"judgments/tasks/{task.name}_answer.html", "judgments/_answer.html"],
    }


def _practice_comment(is_correct: bool | None, protocol: Protocol) -> str:
    """The study's comment on a practice answer; none where no answer is expected."""
    expected, other = protocol.practice_comments
    return "" if is_correct is None else expected if is_correct else other


def _response(response: str, protocol: Protocol, parts: dict[str, Any]) -> str:
    """The response as displayed: a scale point with its label, or the label of a button."""
    for point in parts.get("points", ()):
        if str(point["value"]) == response:
            return f"{response} {point['label']}".rstrip()
    return str(protocol.settings.get(f"{response}_label", response))


def progress(step: Step, protocol: Protocol) -> dict[str, Any]:
    """Progress in blocks if there are several, else in trials, with the minutes that remain."""
    if step.trial is None or step.screen not in {"context", "trial", "break"}:
        return {}
    if step.trial.kind == "practice":
        return {"text": _("Practice")}
    n_left = max(1, len(step.after_practice) - step.n_answered)
    minutes = max(1, round(n_left * seconds_per_trial(protocol.task.name) / 60))
    minutes_left = _("about %(minutes)s min left") % {"minutes": minutes}
    if step.n_blocks > 1:
        now = step.trial.block - (step.screen == "break")
        marks = [
            "done" if n < now or step.screen == "break" and n <= now else "now" if n == now else "ahead"
            for n in range(1, step.n_blocks + 1)
        ]
        text = _("Block %(now)s of %(all)s") % {"now": now, "all": step.n_blocks}
        return {"text": f"{text} · {minutes_left}", "blocks": marks, "now": now, "all": step.n_blocks}
    now = min(step.n_answered + 1, len(step.after_practice))
    text = _("%(now)s of %(all)s") % {"now": now, "all": len(step.after_practice)}
    return {"text": f"{text} · {minutes_left}", "value": step.n_answered, "max": len(step.after_practice)}


def plan_document(session: Session, trials: Sequence[Trial] = ()) -> dict[str, Any]:
    """The trials of a session, loaded where not given, and the engine's texts.

    Without conditions and expected answers.
    """
    trials, protocol = trials or session_trials(session.pk), load_protocol(session.version)
    with interface_translation(protocol.language):
        return {
            **trial_plan(session, trials, screen_of=partial(screen_content, protocol=protocol)),
            "direction": direction(protocol.language),
            "seconds_per_trial": seconds_per_trial(protocol.task.name),
            "words": {
                **engine_texts(),
                **translated_messages(protocol.task),
                "right": protocol.practice_comments[0],
                "wrong": protocol.practice_comments[1],
            },
            "next": reverse("session", kwargs={"token": session.token}),
        }
