"""The catch trials of a study, looked at: do they look like the rest, does each have a plain right answer?"""

from experiments.design.catch import answer_remarks, catch_remarks
from experiments.extras import CHECK, INSTRUCTION
from experiments.models import Experiment, Sentence
from judgments.tasks.registry import get_task

SAMPLE = 2000


def catch_problems(study: Experiment) -> list[str]:
    """Why the catch trials may not do their work."""
    entries = [one for one in study.catch_trials if isinstance(one, dict)]
    if not entries:
        return []
    texts = [_texts(entry) for entry in entries]
    practice = [text for entry in study.practice if isinstance(entry, dict) for text in _texts(entry)]
    told = {place for place, entry in enumerate(entries) if entry.get(CHECK) == INSTRUCTION}
    found = catch_remarks(texts, _targets(study), practice=practice, instructions=told)
    task = get_task(study.task)
    if task.shows != "sentence":
        return found
    answers = [_answer(entry.get("correct")) for entry in entries]
    return [*answer_remarks(answers, task.scale(task.settings(study.parameters))), *found]


def _texts(entry: dict) -> list[str]:
    options = entry.get("options") or [entry]
    return [str(one.get("text", "")) for one in options if isinstance(one, dict)]


def _targets(study: Experiment) -> list[str]:
    rows = Sentence.objects.filter(material_set=study.materials_id).order_by("pk")
    return list(rows.values_list("text", flat=True)[:SAMPLE])


def _answer(correct: object) -> tuple[float, float] | None:
    ends = correct if isinstance(correct, list) else [correct, correct]
    if len(ends) != 2 or not all(isinstance(one, int | float) for one in ends):
        return None
    return float(ends[0]), float(ends[1])
