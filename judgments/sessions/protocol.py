"""Protocol of a session: texts and task of the version it started with, whatever is changed later."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Field

from experiments.design.ordering import OrderRules
from experiments.lists.build import order_rules
from experiments.materials.schema import CONTEXT
from experiments.models import Design, Experiment, ExperimentVersion
from experiments.studies.languages import practice_comments
from experiments.studies.lifecycle import LATER_FIELDS
from experiments.studies.wording import StudyLanguage
from experiments.tasks.base import Task
from experiments.tasks.registry import task_of_version

RESUME_GAP_MINUTES = 10  # after a longer absence the instructions are shown again
RESUME_LIMIT_DAYS = 7  # after a longer absence the session cannot be resumed


@dataclass(frozen=True)
class OwnOrder:
    """How each participant's order is drawn."""

    rules: OrderRules | None
    anchors_in_order: bool


@dataclass(frozen=True)
class Protocol:
    """The parsed content of one frozen version."""

    title: str
    task: Task
    settings: dict[str, Any]
    language: str
    consent: str
    instructions: str
    questionnaire: tuple[dict[str, Any], ...]
    debrief: str
    completion_code: str
    resume_gap: timedelta
    resume_limit: timedelta
    quiz: tuple[dict[str, Any], ...] = ()
    quiz_failure: str = Experiment.QuizFailure.GO_ON
    completion: str = Experiment.Completion.CODE
    completion_url: str = ""
    screen_out_code: str = ""
    partial_code: str = ""
    lab_mode: bool = False
    consent_statements: tuple[dict[str, Any], ...] = ()
    contact: str = ""
    closing_questions: tuple[dict[str, Any], ...] = ()
    closing_comment: bool = False
    shows_context: bool = False
    context_before: bool = False  # on a separate screen
    context_ms: int | None = None  # how long that is shown; None: until a key or the button is pressed
    context_label: bool = False
    deadline_ms: int | None = None
    deadline_bar: bool = False
    practice_comments: tuple[str, str] = ("", "")  # on expected answers, on others
    own_order: OwnOrder | None = None  # None: participants share the order of their list

    def has_context_screen(self, shown: Mapping[str, Any]) -> bool:
        """Whether the context of a trial is on a screen before it; different ones are above their options."""
        return self.context_before and CONTEXT in shown

    @property
    def warm_up(self) -> tuple[str, ...]:
        """The task's screens before its trials."""
        return self.task.warm_up(self.settings)


def load_protocol(version: ExperimentVersion) -> Protocol:
    """The protocol of a version; cached, because versions never change."""
    return read_protocol(version.pk, version.sha256)


@lru_cache(maxsize=200)
def read_protocol(version_id: int, sha256: str) -> Protocol:
    """The protocol of a version by its key and digest."""
    version = ExperimentVersion.objects.select_related("experiment").get(pk=version_id)

    def text(name: str) -> Any:
        return version.snapshot.get(name, getattr(version.experiment, name))

    # Versions frozen before these fields existed use the fields' defaults.
    later = {name: version.snapshot.get(name, _default(name)) for name in LATER_FIELDS}
    task = task_of_version(text("task"))
    return Protocol(
        title=version.snapshot.get("public_title") or text("title"),
        task=task,
        settings=task.settings(text("parameters") or {}),
        language=StudyLanguage(text("language"), later["participant_texts"]),
        consent=text("consent"),
        instructions=text("instructions"),
        questionnaire=tuple(text("questionnaire") or ()),
        debrief=text("debrief"),
        completion_code=text("completion_code"),
        quiz=tuple(later["quiz"]),
        quiz_failure=later["quiz_failure"],
        completion=later["completion"],
        completion_url=later["completion_url"],
        screen_out_code=later["screen_out_code"],
        partial_code=later["partial_code"],
        lab_mode=later["lab_mode"],
        consent_statements=tuple(later["consent_statements"]),
        contact=later["contact"].strip(),
        closing_questions=tuple(later["closing_questions"]),
        closing_comment=later["closing_comment"],
        shows_context=later["context_display"] in Experiment.ContextDisplay.shown(),
        context_before=later["context_display"] == Experiment.ContextDisplay.BEFORE,
        context_ms=later["context_ms"],
        context_label=later["context_label"],
        deadline_ms=later["deadline_ms"],
        deadline_bar=later["deadline_bar"],
        practice_comments=_practice_comments(later, text("language")),
        own_order=_own_order(version.snapshot.get("design", {})),
        resume_gap=timedelta(minutes=_number(version, "resume_gap_minutes", RESUME_GAP_MINUTES)),
        resume_limit=timedelta(days=_number(version, "resume_limit_days", RESUME_LIMIT_DAYS)),
    )


def _own_order(design: dict[str, Any]) -> OwnOrder | None:
    """Read the order from the design of a frozen version; versions before the field have the list's."""
    if design.get("order", Design.Order.LIST) == Design.Order.LIST:
        return None
    fixed = Design.AnchorOrder.FIXED
    return OwnOrder(order_rules(design["constraints"]), design.get("anchor_order", fixed) == fixed)


def _practice_comments(texts: dict[str, Any], language: str) -> tuple[str, str]:
    expected, other = practice_comments(language)
    return texts["practice_expected"].strip() or expected, texts["practice_other"].strip() or other


def _default(name: str) -> Any:
    field = Experiment._meta.get_field(name)
    assert isinstance(field, Field)
    return field.get_default()


def _number(version: ExperimentVersion, name: str, default: int) -> float:
    """A positive number of the frozen study, or the default."""
    value = version.snapshot.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < 10_000 else float(default)
