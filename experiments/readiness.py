"""What is still to be done before a study can open, with the reason and the page for it."""

from dataclasses import dataclass

from analysis.errors import BadInput
from experiments.lifecycle import problems
from experiments.models import Experiment
from judgments.tasks.registry import get_task


@dataclass(frozen=True)
class Step:
    """One step of a researcher's way."""

    label: str
    is_done: bool
    reason: str
    page: str


def steps(study: Experiment) -> list[Step]:
    """The way from a draft to an open study."""
    found = [
        Step("Materials", study.materials is not None, materials_reason(study), "study-settings"),
        Step("Task", not task_problem(study), task_problem(study) or task_label(study), "study-settings"),
        Step(
            "Consent text",
            bool(study.consent.strip()),
            "Shown first; nothing is stored before a yes.",
            "study-settings",
        ),
        Step(
            "Instructions",
            bool(study.instructions.strip()),
            "Shown before the first trial.",
            "study-settings",
        ),
        Step(
            "Catch trials",
            bool(study.catch_trials),
            "Wanted, not needed: they show who does not read.",
            "study-settings",
        ),
    ]
    remaining = problems(study) if all(step.is_done for step in found[:4]) else []
    design = Step(
        "Design and lists",
        not remaining and all(s.is_done for s in found[:4]),
        " ".join(remaining) or "Look at the lists before you open.",
        "study-design",
    )
    return [*found, design]


def materials_reason(study: Experiment) -> str:
    """What is, or is not, chosen."""
    return f"{study.materials.name}." if study.materials else "Choose the sentences or pairs to judge."


def task_label(study: Experiment) -> str:
    """The task in words."""
    return f"{get_task(study.task).label}."


def task_problem(study: Experiment) -> str:
    """Why the task cannot be shown as it is set; empty when it can."""
    try:
        get_task(study.task).settings(study.parameters)
    except BadInput as error:
        return str(error)[:1].upper() + str(error)[1:]
    return ""
