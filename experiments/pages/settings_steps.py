"""The steps of a study's settings: one page for each question that they answer, with its fields and state."""

from dataclasses import dataclass

from django.urls import reverse

from analysis.power.money import format_money
from analysis.text import plural
from experiments.models import Experiment
from experiments.studies.readiness import task_problem
from experiments.tasks.registry import shown_task


@dataclass(frozen=True)
class SettingsStep:
    """One page of the settings: its fields by heading, and whether it shows the parameters of the task.

    Fields that ``depends_on_task`` marks mean something else for another task.
    """

    name: str
    label: str
    sections: dict[str, str]
    has_parameters: bool = False
    depends_on_task: bool = False

    @property
    def fields(self) -> set[str]:
        """Names of the fields of the study."""
        return {name for names in self.sections.values() for name in names.split()}


STEPS = {
    step.name: step
    for step in (
        SettingsStep(
            "study",
            "Study",
            {
                "Names": "title public_title public_slug description",
                "Materials and language": "materials context_display context_ms context_label language",
            },
        ),
        SettingsStep(
            "task",
            "Task",
            {"Deadline": "deadline_ms deadline_bar"},
            has_parameters=True,
            depends_on_task=True,
        ),
        SettingsStep(
            "texts",
            "Texts",
            {
                "Consent": "consent consent_statements contact",
                "Instructions and debrief": "instructions debrief",
            },
        ),
        SettingsStep(
            "questions",
            "Questions",
            {
                "Questions about the person": "questionnaire",
                "Questions about the instructions": "quiz quiz_failure",
                "Questions at the end": "closing_questions closing_comment",
            },
        ),
        SettingsStep(
            "checks",
            "Practice and checks",
            {
                "Practice": "practice practice_expected practice_other",
                "Catch trials": "catch_trials",
                "Anchors": "anchors",
            },
            depends_on_task=True,
        ),
        SettingsStep(
            "sessions",
            "Sessions",
            {
                "Absences": "lease_minutes resume_gap_minutes resume_limit_days",
                "Shared computers": "lab_mode",
            },
        ),
        SettingsStep(
            "end",
            "End and pay",
            {
                "Completion": "completion completion_code completion_url screen_out_code partial_code",
                "Pay": "reward_minor currency",
            },
        ),
    )
}


@dataclass(frozen=True)
class StepState:
    """A step as the row of steps shows it: what is set, and whether something needed to open is missing."""

    step: SettingsStep
    address: str
    note: str
    is_missing: bool
    is_set: bool
    is_here: bool


def step_states(study: Experiment, here: str = "") -> list[StepState]:
    """Return the state of every step."""
    missing, notes = _missing(study), _notes(study)
    return [
        StepState(
            step,
            reverse(f"study-settings-{name}", args=[study.slug]),
            missing.get(name) or notes.get(name) or "none yet",
            is_missing=name in missing,
            is_set=name not in missing and bool(notes.get(name)),
            is_here=name == here,
        )
        for name, step in STEPS.items()
    ]


def first_step(study: Experiment) -> SettingsStep:
    """Return the step to show first: in a draft the first that lacks something needed to open."""
    missing = _missing(study) if study.status in Experiment.Status.editable() else {}
    return next((step for name, step in STEPS.items() if name in missing), STEPS["study"])


def step_after(step: SettingsStep) -> SettingsStep | None:
    """Return the following step, if any."""
    names = list(STEPS)
    place = names.index(step.name) + 1
    return STEPS[names[place]] if place < len(names) else None


def _missing(study: Experiment) -> dict[str, str]:
    """Missing settings that opening requires, by step; imported studies need nothing."""
    if study.origin == Experiment.Origin.IMPORTED:
        return {}
    texts = [label for label in ("consent", "instructions") if not getattr(study, label).strip()]
    needs_link = study.completion == Experiment.Completion.REDIRECT and not study.completion_url
    missing = {
        "study": "" if study.materials_id else "no materials",
        "task": "to be corrected" if task_problem(study) else "",
        "texts": f"no {' and '.join(texts)}" if texts else "",
        "end": "no return link" if needs_link else "",
    }
    return {name: text for name, text in missing.items() if text}


def _notes(study: Experiment) -> dict[str, str]:
    """Summary of the settings of a step."""
    questions = {
        "about the person": len(study.questionnaire),
        "about the instructions": len(study.quiz),
        "at the end": len(study.closing_questions),
    }
    checks = {"practice": len(study.practice), "catch": len(study.catch_trials), "anchor": len(study.anchors)}
    pay = format_money(study.reward_minor, study.currency) if study.reward_minor else ""
    way_back = "return link" if study.completion == Experiment.Completion.REDIRECT else "code"
    return {
        "study": study.materials.name if study.materials else "",
        "task": shown_task(study.task).label,
        "texts": ", ".join(
            label for label in ("consent", "instructions", "debrief") if getattr(study, label)
        ),
        "questions": ", ".join(f"{n} {label}" for label, n in questions.items() if n),
        "checks": ", ".join(f"{n} {label}" for label, n in checks.items() if n),
        "sessions": "lab mode"
        if study.lab_mode
        else f"{plural(study.resume_limit_days, 'day')} to come back",
        "end": ", ".join(filter(None, (way_back, pay))),
    }
