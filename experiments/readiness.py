"""The launch checklist: what is still to be done before a study opens, why, and on which page.

A *blocking* line keeps the study from opening (:func:`experiments.lifecycle.problems`). An *advisory* line
may stay undone only where somebody waived it for a reason.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from django.core.cache import cache

from analysis.errors import BadInput
from experiments.catch_lint import catch_problems
from experiments.design.trials import PlannedTrial
from experiments.design.tuples import members_of
from experiments.design_proof import RoundProof, proofs
from experiments.estimate import minutes
from experiments.lifecycle import sha256_of, snapshot
from experiments.models import Experiment, Job, Sentence
from experiments.money import written
from experiments.rehearsals import Rehearsals, rehearsals, waivers
from judgments.tasks.registry import get_task

KEPT_SECONDS, LONG_MINUTES = 60, 30
LEAST_HOURLY = {"GBP": 600, "USD": 800}  # Prolific's least pay in minor units, November 2026
KEEPING = re.compile(  # words of keeping and deleting, in the languages of the interface
    r"\bstor(e|ed|age|ing)\b|\bke(ep|pt)\b|delet|eras|retain|retention|anonym|pseudonym|archiv|publish|speicher|"
    r"gespeichert|aufbewahr|lösch|veröffentlich|guard|conserv|elimin|almacen|borra|bewaar|opgeslagen|verwijder|"
    r"armazen|apag|sakla|silin|保存|删除|匿名|削除|保管|تخزين|تُحفظ|حذف|تحفظ",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Step:
    """One line of the checklist: what, whether it is done, why, and where to mend it."""

    key: str
    label: str
    is_done: bool
    reason: str
    page: str
    is_blocking: bool = False
    waived: str = ""

    @property
    def is_green(self) -> bool:
        """Done, or done without for a reason."""
        return self.is_done or bool(self.waived)


@dataclass(frozen=True)
class Lists:
    """What the design makes now: how many lists, how long, what they keep; or why there are none."""

    problem: str = ""
    n_lists: int = 0
    n_trials: int = 0
    n_fewest: int = 0
    n_rounds: int = 1
    broken: tuple[str, ...] = ()
    uneven: tuple[str, ...] = ()


def steps(study: Experiment) -> list[Step]:
    """The whole checklist, in the order of the work."""
    made, reasons = lists_of(study), waivers(study)
    found = [*_blocking(study, made), *_advisory(study, made)]
    return [step if step.is_blocking else replace(step, waived=reasons.get(step.key, "")) for step in found]


def may_open(found: list[Step]) -> bool:
    """Whether nothing blocks."""
    return all(step.is_done for step in found if step.is_blocking)


def is_green(found: list[Step]) -> bool:
    """Whether every line is done or waived."""
    return all(step.is_green for step in found)


def lists_of(study: Experiment) -> Lists:
    """The lists in numbers; made again only when something that decides them has changed."""
    stamp = f"{study.pk}-{study.materials_id}-{study.updated_at.timestamp()}-{sha256_of(snapshot(study))}"
    return cache.get_or_set(f"lists-{stamp}", lambda: _lists_of(study), KEPT_SECONDS)


def _lists_of(study: Experiment) -> Lists:
    try:
        rounds = proofs(study)
    except BadInput as error:
        return Lists(problem=_sentence(error))
    lengths = [len(trials) for one in rounds for trials in one.lists.values()]
    names = {one.round.number: f"Round {one.round.number}: " if len(rounds) > 1 else "" for one in rounds}
    broken = tuple(
        f"{names[one.round.number]}{claim.text}: it does not hold ({claim.numbers})."
        for one in rounds
        for claim in one.claims
        if not claim.holds
    )
    uneven = tuple(names[one.round.number] + told for one in rounds for told in _uneven(one, study))
    return Lists(
        n_lists=len(lengths),
        n_trials=max(lengths),
        n_fewest=min(lengths),
        n_rounds=len(rounds),
        broken=broken,
        uneven=uneven,
    )


def _uneven(one: RoundProof, study: Experiment) -> Iterator[str]:
    """Why the lists of a round will not be filled equally often by the people who are wanted."""
    wanted = one.round.target_judgments
    wanted = study.target_judgments if wanted is None else wanted
    targets = [trial for places in one.lists.values() for trial in places if trial.kind == "target"]
    shown = Counter(_items(targets))
    times, n_lists = min(shown.values(), default=0), len(one.lists)
    if not wanted or not times:
        return
    if wanted % times:
        yield (
            f"{n_lists} lists show an item {times} times, so {wanted} judgments of each item leave some "
            f"lists with one session less: {ceil(wanted / times) * times} come out even."
        )
    most, needed = one.round.max_participants, ceil(wanted * n_lists / times)
    if most and most < needed:
        yield f"The limit of {most} participants comes before the {needed} for {wanted} judgments an item."


def _items(targets: list[PlannedTrial]) -> Iterator[str | int]:
    """The items that trials show, as often as they show them; of sets, those of their members."""
    keys = [int(key) for trial in targets if not trial.item for key in members_of(trial)]
    items = dict(Sentence.objects.filter(pk__in=set(keys)).values_list("pk", "item"))
    yield from (trial.item for trial in targets if trial.item)
    yield from (items[key] for key in keys)


def _blocking(study: Experiment, made: Lists) -> list[Step]:
    """What :func:`experiments.lifecycle.problems` asks for, line by line."""
    task, settings = task_problem(study), "study-settings"
    return [
        _must("materials", "Materials", study.materials is not None, materials_reason(study), settings),
        _must("task", "Task", not task, task or task_label(study), settings),
        _must(
            "consent",
            "Consent text",
            bool(study.consent.strip()),
            "Shown first; nothing is stored before a yes.",
            settings,
        ),
        _must(
            "instructions",
            "Instructions",
            bool(study.instructions.strip()),
            "Shown before the first trial.",
            settings,
        ),
        *_way_back(study),
        _must("design", "Design and lists", not made.problem, _lists_reason(made), "study-design"),
    ]


def _must(key: str, label: str, is_done: bool, reason: str, page: str) -> Step:
    return Step(key, label, is_done, reason, page, is_blocking=True)


def _way_back(study: Experiment) -> list[Step]:
    """The address people are led back to, where the study leads them anywhere."""
    if study.completion != Experiment.Completion.REDIRECT:
        return []
    reason = "The address of the other site, with a place for the code."
    return [_must("way-back", "Way back", bool(study.completion_url), reason, "study-settings")]


def _advisory(study: Experiment, made: Lists) -> list[Step]:
    remarks = [] if task_problem(study) else catch_problems(study)
    n_catch = len(study.catch_trials)
    done = rehearsals(study)
    return [
        Step("balance", "Balance", *_balance(made), "study-design"),
        Step("people", "People for each list", *_people(made), "study-settings"),
        Step(
            "practice",
            "Practice",
            bool(study.practice),
            f"{len(study.practice)} with feedback." if study.practice else "Two or three, with feedback.",
            "study-settings",
        ),
        Step(
            "catch",
            "Catch trials",
            bool(study.catch_trials) and not remarks,
            " ".join(remarks)
            or (f"{n_catch}, each with a right answer." if n_catch else "Who does not read?"),
            "study-settings",
        ),
        Step(
            "debrief",
            "Debrief",
            bool(study.debrief.strip()),
            "What it was about, told at the end.",
            "study-settings",
        ),
        Step("retention", "Keeping of data", *_retention(study), "study-settings"),
        Step("time", "Time and pay", *_time(study, made), "study-design"),
        Step("preview", "Tried by one of you", *_tried(done), "study"),
        Step("dry-run", "Dry run", *_dry_run(done), "study-launch"),
    ]


def _balance(made: Lists) -> tuple[bool, str]:
    if made.problem:
        return False, "There are no lists yet."
    return not made.broken, " ".join(made.broken) or "Items, conditions and sides are even: see the proof."


def _people(made: Lists) -> tuple[bool, str]:
    if made.problem:
        return False, "There are no lists yet."
    return not made.uneven, " ".join(
        made.uneven
    ) or "The people who are wanted fill every list equally often."


def _retention(study: Experiment) -> tuple[bool, str]:
    if KEEPING.search(study.consent):
        return True, "The consent text says what is kept. Platform ids lie in a vault of their own."
    return False, "The consent text does not say how long answers are kept, nor under which name."


def _time(study: Experiment, made: Lists) -> tuple[bool, str]:
    if made.problem:
        return False, "There are no lists yet."
    estimate = minutes(study, n_trials=made.n_trials)
    told = f"About {estimate} min: {made.n_trials} trials, the texts and questions."
    if study.reward_minor:
        hourly = round(study.reward_minor * 60 / estimate)
        told += f" The reward comes to {written(hourly, study.currency)} an hour."
        if hourly < (least := LEAST_HOURLY.get(study.currency, 0)):
            return False, f"{told} Prolific takes no study below {written(least, study.currency)} an hour."
    if estimate > LONG_MINUTES:
        return False, f"{told} Longer than {LONG_MINUTES} min tires people: shorter lists help."
    return True, told


def _tried(done: Rehearsals) -> tuple[bool, str]:
    if done.by_people_now:
        return True, f"{done.by_people_now} complete, of the study as it is now."
    if done.by_people:
        return True, f"{done.by_people} complete, of an earlier state: look again at what has changed."
    return False, "Take it yourself to the end, on a phone too; it never counts."


def _dry_run(done: Rehearsals) -> tuple[bool, str]:
    if done.dry_run and done.dry_run.state == Job.State.FAILED:  # who came before did get through
        return False, f"The last one failed: {done.dry_run.error}"
    if done.dry_run and done.dry_run.state != Job.State.DONE:
        return False, "Simulated participants are on their way."
    if done.simulated_now:
        return True, f"{done.simulated_now} simulated participants got through the study as it is now."
    return False, "Let simulated participants take it; they never count."


def _lists_reason(made: Lists) -> str:
    if made.problem:
        return made.problem
    length = str(made.n_trials) if made.n_trials == made.n_fewest else f"{made.n_fewest} to {made.n_trials}"
    rounds = f" in {made.n_rounds} rounds" if made.n_rounds > 1 else ""
    return f"{made.n_lists} lists{rounds} of {length} trials."


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
        return _sentence(error)
    return ""


def _sentence(error: BadInput) -> str:
    return str(error)[:1].upper() + str(error)[1:]
