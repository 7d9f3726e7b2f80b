"""The launch checklist: what is missing before a study opens, why, and on which page to change it.

A *blocking* line keeps the study from opening (:func:`experiments.studies.lifecycle.problems`). An *advisory*
line may stay undone only with a waiver and its reason.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Length

from analysis.errors import BadInput
from analysis.power.money import format_money
from analysis.text import plural
from experiments.design.catch import answer_remarks, catch_remarks
from experiments.lists.balance_report import Coverage, compute_coverage, proofs
from experiments.lists.build import get_design
from experiments.lists.extra_trials import CHECK, EXTRAS, INSTRUCTION
from experiments.materials.findings import LEFT_OUT_FOR
from experiments.materials.markdown import placeholders
from experiments.materials.schema import CONTEXT
from experiments.models import AuditEntry, Experiment, Job, MaterialSet, Sentence
from experiments.page_cache import cache
from experiments.studies.languages import foreign_language, has_interface, language_name
from experiments.studies.lifecycle import (
    NotReady,
    answer_problems,
    document_sha256,
    open_study,
    problems,
    snapshot,
)
from experiments.studies.rehearsals import Rehearsals, rehearsals, waive, waivers
from experiments.studies.targets import (
    LONG_MINUTES,
    Requirement,
    compute_requirement,
    describe_requirement,
    minutes,
    reading_seconds,
    uneven_reasons,
)
from experiments.studies.wording import participant_texts
from experiments.tasks.registry import get_task, shown_task

CHECKS = "study-settings-checks"  # the page of practice, catch trials and anchors
SAMPLE = 2000  # target sentences that catch trials are compared with


def catch_problems(study: Experiment) -> list[str]:
    """Reasons why catch trials may miss inattention: unlike the targets, or without a clear answer."""
    entries = [catch_trial for catch_trial in study.catch_trials if isinstance(catch_trial, dict)]
    if not entries:
        return []
    texts = [_texts(entry) for entry in entries]
    practice = [text for entry in study.practice if isinstance(entry, dict) for text in _texts(entry)]
    instructions = {index for index, entry in enumerate(entries) if entry.get(CHECK) == INSTRUCTION}
    remarks = catch_remarks(texts, _targets(study), practice=practice, instructions=instructions)
    task = get_task(study.task)
    if task.shows != "sentence":
        return remarks
    answers = [_answer(entry.get("correct")) for entry in entries]
    return [*answer_remarks(answers, task.scale(task.settings(study.parameters))), *remarks]


def _texts(entry: dict[str, Any]) -> list[str]:
    options = entry.get("options") or [entry]
    return [str(option.get("text", "")) for option in options if isinstance(option, dict)]


def _targets(study: Experiment) -> list[str]:
    rows = Sentence.objects.filter(material_set=study.materials_id).order_by("pk")
    return list(rows.values_list("text", flat=True)[:SAMPLE])


def _answer(correct: object) -> tuple[float, float] | None:
    ends = correct if isinstance(correct, list) else [correct, correct]
    numbers = [float(end) for end in ends if isinstance(end, int | float)]
    return (numbers[0], numbers[1]) if len(ends) == len(numbers) == 2 else None


CACHE_SECONDS = 60
MOST_NAMED = 3  # placeholders of one text
LEAST_HOURLY = {"GBP": 600, "USD": 800}  # Prolific's minimum pay per hour in minor units, November 2026
KEEPING = re.compile(  # words for storing and deleting, in the interface languages
    r"\bstor(e|ed|age|ing)\b|\bke(ep|pt)\b|delet|eras|retain|retention|anonym|pseudonym|archiv|publish|speicher|"
    r"gespeichert|aufbewahr|lösch|veröffentlich|guard|conserv|elimin|almacen|borra|bewaar|opgeslagen|verwijder|"
    r"armazen|apag|sakla|silin|保存|删除|匿名|削除|保管|تخزين|تُحفظ|حذف|تحفظ|stock|supprim|effac|cancell|보관|저장|삭제|"
    r"익명|хран|удал|аноним",
    re.IGNORECASE,
)


_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.\w|https?://")


@dataclass(frozen=True)
class Step:
    """One line of the checklist: its state, the reason, and the page where to change it."""

    key: str
    label: str
    is_done: bool
    reason: str
    page: str
    is_blocking: bool = False
    has_own_reason: bool = False  # not waived together with others: participants or an ethics board read it
    waived: str = ""
    materials: str = ""  # slug of the set whose findings it is about
    is_of_fillers: bool = False  # whether that set holds the fillers
    check: str = ""  # of the materials, where its items can be left out
    n_concerned: int = 0
    n_left_out: int = 0

    @property
    def is_green(self) -> bool:
        """Whether it is done or waived."""
        return self.is_done or bool(self.waived)


@dataclass(frozen=True)
class Lists:
    """The lists of the present design in numbers, with broken balance claims; or why there are none.

    ``requirements`` says for each round what its target takes.
    """

    problem: str = ""
    n_lists: int = 0
    n_trials: int = 0
    n_fewest: int = 0
    n_rounds: int = 1
    broken: tuple[str, ...] = ()
    uneven: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    coverage: Coverage | None = None


def steps(study: Experiment) -> list[Step]:
    """Return the checklist in the order of the work."""
    lists, reasons = summarize_lists(study), waivers(study)
    checklist = [*_blocking(study, lists), *_advisory(study, lists)]
    return [
        step if step.is_blocking else replace(step, waived=reasons.get(step.key, "")) for step in checklist
    ]


def may_open(checklist: list[Step]) -> bool:
    """Whether nothing blocks."""
    return all(step.is_done for step in checklist if step.is_blocking)


def is_green(checklist: list[Step]) -> bool:
    """Whether every line is done or waived."""
    return all(step.is_green for step in checklist)


class ChecksUndone(BadInput):
    """Advisory checks are neither done nor waived, and no reason waives them together."""

    def __init__(self, checks: list[Step]) -> None:
        self.checks = checks
        listed = ", ".join(f"{step.label} ({step.key})" for step in checks)
        super().__init__(f"checks are undone: {listed}.", remedy="Do them, or waive them with a reason.")


@transaction.atomic
def open_checked(study: Experiment, *, reason: str = "", user: User) -> Experiment:
    """Open a study; ``reason`` waives the advisory checks that need no reason of their own.

    Raises :class:`NotReady` or :class:`ChecksUndone`, and opens nothing.
    """
    if reasons := problems(study):
        raise NotReady(reasons)
    undone = [step for step in steps(study) if not step.is_green and not step.is_blocking]
    if undone and study.status != Experiment.Status.OPEN:
        one_by_one = [step for step in undone if step.has_own_reason]
        if one_by_one or not reason.strip():
            raise ChecksUndone(one_by_one or undone)
        for step in undone:
            waive(study, step.key, reason=reason, user=user)
        details = {"checks": [step.label for step in undone]}
        AuditEntry.objects.create(
            experiment=study, user=user, action="opened with checks undone", details=details
        )
    return open_study(study, user)


def summarize_lists(study: Experiment) -> Lists:
    """Summarize the lists; cached by everything that decides them."""
    stamp = (
        f"{study.pk}-{study.materials_id}-{study.updated_at.timestamp()}-{document_sha256(snapshot(study))}"
    )
    return cast("Lists", cache.get_or_set(f"lists-{stamp}", lambda: _summarize_lists(study), CACHE_SECONDS))


def _summarize_lists(study: Experiment) -> Lists:
    try:
        rounds = proofs(study)
    except BadInput as error:
        return Lists(problem=_sentence(error))
    lengths = [len(trials) for proof in rounds for trials in proof.lists.values()]
    prefixes = {
        proof.round.number: f"Round {proof.round.number}: " if len(rounds) > 1 else "" for proof in rounds
    }
    broken = tuple(
        f"{prefixes[proof.round.number]}{claim.text}: it does not hold ({claim.numbers})."
        for proof in rounds
        for claim in proof.claims
        if not claim.holds
    )
    requirements = tuple(compute_requirement(study, proof) for proof in rounds)
    uneven = tuple(
        prefixes[proof.round.number] + reason
        for proof, requirement in zip(rounds, requirements, strict=True)
        for reason in uneven_reasons(study, requirement)
    )
    return Lists(
        n_lists=len(lengths),
        n_trials=max(lengths),
        n_fewest=min(lengths),
        n_rounds=len(rounds),
        broken=broken,
        uneven=uneven,
        requirements=requirements,
        coverage=compute_coverage(study, rounds),
    )


def _blocking(study: Experiment, lists: Lists) -> list[Step]:
    """The requirements of :func:`experiments.studies.lifecycle.problems`, line by line."""
    task, texts = task_problem(study), "study-settings-texts"
    materials = materials_reason(study)
    return [
        _must("materials", "Materials", study.materials is not None, materials, "study-settings-study"),
        _must("task", "Task", not task, task or task_label(study), "study-settings-task"),
        _must(
            "consent",
            "Consent text",
            bool(study.consent.strip()),
            "Shown first; nothing is stored before a yes.",
            texts,
        ),
        _must(
            "instructions",
            "Instructions",
            bool(study.instructions.strip()),
            "Shown before the first trial.",
            texts,
        ),
        *_return_link(study),
        *_right_answers(study, lists),
        _must("design", "Design and lists", not lists.problem, _lists_reason(lists), "study-design"),
    ]


def _must(key: str, label: str, is_done: bool, reason: str, page: str) -> Step:
    return Step(key, label, is_done, reason, page, is_blocking=True)


def _return_link(study: Experiment) -> list[Step]:
    """The return link, where the study returns participants to another site."""
    if study.completion != Experiment.Completion.REDIRECT:
        return []
    reason = "The address of the other site, with a placeholder for the code."
    return [_must("way-back", "Return link", bool(study.completion_url), reason, "study-settings-end")]


def _right_answers(study: Experiment, lists: Lists) -> list[Step]:
    """Right answers that are impossible to give, if any."""
    reasons = [] if task_problem(study) or lists.problem else answer_problems(study)
    return [_must("answers", "Right answers", False, " ".join(reasons), CHECKS)] if reasons else []


def _advisory(study: Experiment, lists: Lists) -> list[Step]:
    remarks = [] if task_problem(study) else catch_problems(study)
    n_catch = len(study.catch_trials)
    rehearsed = rehearsals(study)
    return [
        *_material_findings(study),
        *_contexts(study),
        *_deadline(study),
        Step("balance", "Balance", *_balance(lists), "study-design"),
        Step("coverage", "Coverage of the materials", *_coverage(lists), "study-design"),
        Step("people", "Target and participants", *_people(study, lists), "study-design"),
        Step(
            "practice",
            "Practice",
            bool(study.practice),
            f"{len(study.practice)} with feedback." if study.practice else "Two or three, with feedback.",
            CHECKS,
        ),
        Step(
            "catch",
            "Catch trials",
            bool(study.catch_trials) and not remarks,
            " ".join(remarks)
            or (f"{n_catch}, each with a right answer." if n_catch else "Catches inattentive participants."),
            CHECKS,
        ),
        Step(
            "debrief",
            "Debrief",
            bool(study.debrief.strip()),
            "What the study was about, shown at the end.",
            "study-settings-texts",
        ),
        *_placeholders(study),
        Step("language", "Language of the pages", *_language(study), "study-texts"),
        *_foreign_texts(study),
        *_languages_differ(study),
        Step("retention", "Data retention", *_retention(study), "study-settings-texts", has_own_reason=True),
        Step(
            "contact",
            "Contact for participants",
            *_contact(study),
            "study-settings-texts",
            has_own_reason=True,
        ),
        Step("time", "Time and pay", *_time(study, lists), "study-design"),
        Step("preview", "Tried by the team", *_rehearsal_step(rehearsed), "study"),
        Step("dry-run", "Dry run", *_dry_run(rehearsed), "study-launch"),
    ]


def _placeholders(study: Experiment) -> list[Step]:
    """One line where texts have parts in square brackets, as templates have them to be filled in."""
    texts = _long_texts(study)
    remaining = {label: parts for label, text in texts.items() if (parts := placeholders(text))}
    if not remaining:
        return []
    by_text = [f"{label}: {_first_few(parts)}." for label, parts in remaining.items()]
    reason = " ".join(["Participants would read what is still in square brackets.", *by_text])
    return [
        Step(
            "placeholders",
            "Placeholders of a template",
            False,
            reason,
            "study-settings-texts",
            has_own_reason=True,
        )
    ]


def _long_texts(study: Experiment) -> dict[str, str]:
    """The texts that templates fill, by their label."""
    statements = "\n".join(str(row.get("text", "")) for row in study.consent_statements)
    return {
        "Consent text": f"{study.consent}\n{statements}",
        "Instructions": study.instructions,
        "Debrief": study.debrief,
    }


def _foreign_texts(study: Experiment) -> list[Step]:
    """One line where texts are in another language than the study."""
    foreign = {
        label: language
        for label, text in _long_texts(study).items()
        if (language := foreign_language(text, study.language))
    }
    if not foreign:
        return []
    named = ", ".join(f"{label.lower()} ({language})" for label, language in foreign.items())
    reason = f"The study is in “{study.language}”, but these texts do not seem to be: {named}."
    page = "study-settings-texts"
    return [Step("text-language", "Language of the texts", False, reason, page, has_own_reason=True)]


def _first_few(parts: list[str]) -> str:
    more = len(parts) - MOST_NAMED
    return ", ".join(parts[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _material_findings(study: Experiment) -> list[Step]:
    """One line for each warning that the upload of the materials, or of the filler set, gave."""
    design = get_design(study)
    of_targets, of_fillers = design.left_out_items(study.materials), design.fillers_left_out
    return [
        *(
            _finding_line(study.materials, code, n, of_targets.get(code))
            for code, n in _warning_counts(study, study.materials).items()
        ),
        *(
            _finding_line(design.filler_materials, code, n, of_fillers.get(code), is_of_fillers=True)
            for code, n in _warning_counts(study, design.filler_materials).items()
        ),
    ]


def _warning_counts(study: Experiment, materials: MaterialSet | None) -> dict[str, int]:
    """Count the findings of each kind of warning that concerns the task."""
    report = materials.report if materials else {}
    warnings = {row["code"] for row in report.get("findings", []) if row["severity"] == "warning"}
    if get_task(study.task).shows != "pair":
        warnings.discard("unpaired")
    warnings.discard("not_shown")  # of uploads before contexts were shown: see _contexts
    return {code: n for code, n in report.get("finding_counts", {}).items() if code in warnings}


def _finding_line(
    materials: MaterialSet | None,
    code: str,
    n_findings: int,
    left_out: list[str] | None,
    *,
    is_of_fillers: bool = False,
) -> Step:
    """One kind of finding: done where the items that it names are left out."""
    key, name = ("fillers", "Fillers") if is_of_fillers else ("materials", "Materials")
    label = f"{name}: {code.replace('_', ' ')}"
    messages = (
        (row["message"] for row in materials.report["findings"] if row["code"] == code) if materials else ()
    )
    meaning = LEFT_OUT_FOR.get(code) or next(iter(messages), "").rstrip(".")
    times = f"{plural(n_findings, 'finding')}{': ' if meaning else ''}{meaning}."
    reason = times
    if left_out is not None:
        reason = f"{times} {plural(len(left_out), 'item')} left out of the lists."
        if not left_out:
            reason = f"{times} Their items are left out by another check."
    return Step(
        f"{key}-{code}",
        label,
        left_out is not None,
        reason,
        "study-design" if is_of_fillers else "study-settings-study",
        materials=materials.slug if materials else "",
        is_of_fillers=is_of_fillers,
        check=code if meaning else "",
        n_concerned=n_findings,
        n_left_out=len(left_out or []),
    )


def _contexts(study: Experiment) -> list[Step]:
    """One line where sentences have contexts: whether participants see them, and which trials have none."""
    n_contexts = count_contexts(study.materials) + count_contexts(get_design(study).filler_materials)
    if not n_contexts:
        return []
    contexts = plural(n_contexts, "sentence has a context", "sentences have a context")
    if study.context_display not in Experiment.ContextDisplay.shown():
        reason = f"{contexts}, which models read and participants do not see. Show it, or say why not."
        return [Step("context", "Contexts", False, reason, "study-settings-study")]
    without = _trials_without_context(study)
    reason = f"{contexts}, which participants see {_context_place(study)} and models read before it."
    if study.context_display == Experiment.ContextDisplay.BEFORE and get_task(study.task).shows != "sentence":
        reason = f"{reason} Where the sentences of a trial have different contexts, each is above its own."
    if without:
        reason = f"{reason} Without one: {', '.join(without)}."
    return [Step("context", "Contexts", not without, reason, "study-settings-study")]


def _context_place(study: Experiment) -> str:
    """Where and how long participants see contexts."""
    if study.context_display == Experiment.ContextDisplay.ABOVE:
        return "above it"
    until = "until they press a key or the button"
    if study.context_ms:
        until = f"for {study.context_ms} ms (without scripts {until.replace('a key or ', '')})"
    return f"on a separate screen before it, {until},"


def _deadline(study: Experiment) -> list[Step]:
    """One line where answers have a deadline: whether the longest sentence can be read in time."""
    if study.deadline_ms is None:
        return []
    texts = Sentence.objects.filter(material_set=study.materials_id)
    longest = texts.aggregate(longest=Max(Length("text")))["longest"] or 0
    is_pair = shown_task(study.task).shows == "pair"
    needed_s = reading_seconds(longest * (1 + is_pair), study.language)
    limit = f"Each answer has {study.deadline_ms / 1000:g} s; without one the trial is stored as timed out."
    is_short = needed_s * 1000 > study.deadline_ms
    what = "Two sentences take" if is_pair else "The longest sentence takes"
    reason = f"{what} about {needed_s:.1f} s to read. Give more time, or say why not."
    rest = reason if is_short else "Answers by the plain form, without scripts, have no limit."
    return [Step("deadline", "Deadline", not is_short, f"{limit} {rest}", "study-settings-task")]


def count_contexts(materials: MaterialSet | None) -> int:
    """Count the sentences of a material set that have a context."""
    if materials is None:
        return 0
    rows = Sentence.objects.filter(material_set=materials, attributes__has_key=CONTEXT)
    stamp = f"contexts-{materials.pk}-{materials.checksum}"
    return cast("int", cache.get_or_set(stamp, rows.count, CACHE_SECONDS))


def _trials_without_context(study: Experiment) -> list[str]:
    """Kinds of trials without a context, with their numbers."""
    targets = Sentence.objects.filter(material_set=study.materials, is_filler=False)
    fillers = Sentence.objects.filter(material_set=study.materials, is_filler=True)
    if filler_set := get_design(study).filler_materials:
        fillers = fillers | Sentence.objects.filter(material_set=filler_set)
    counts = {
        "target sentence": targets.exclude(attributes__has_key=CONTEXT).count(),
        "filler": fillers.exclude(attributes__has_key=CONTEXT).count(),
        **{
            f"{kind} trial": sum(
                not row.get(CONTEXT) for row in getattr(study, name) if isinstance(row, dict)
            )
            for name, kind in EXTRAS.items()
        },
    }
    return [plural(n, kind) for kind, n in counts.items() if n]


def _balance(lists: Lists) -> tuple[bool, str]:
    if lists.problem:
        return False, "There are no lists yet."
    return not lists.broken, " ".join(lists.broken) or "Items, conditions and sides are even: see the proof."


def _coverage(lists: Lists) -> tuple[bool, str]:
    if lists.problem or lists.coverage is None:
        return False, "There are no lists yet."
    return lists.coverage.is_whole, lists.coverage.sentence


def _people(study: Experiment, lists: Lists) -> tuple[bool, str]:
    if lists.problem:
        return False, "There are no lists yet."
    prefixes = [f"Round {number}: " if lists.n_rounds > 1 else "" for number in range(1, lists.n_rounds + 1)]
    takes = [
        prefix + describe_requirement(study, requirement)
        for prefix, requirement in zip(prefixes, lists.requirements, strict=True)
    ]
    return not lists.uneven, " ".join([*takes, *lists.uneven])


def _language(study: Experiment) -> tuple[bool, str]:
    """Whether buttons and messages are in the language of the study: ours, or all of its own."""
    if has_interface(study.language):
        return True, f"Buttons and messages are in {language_name(study.language)}."
    messages = {text.message for text in participant_texts(study.task)}
    n_written = len(messages & set(study.participant_texts))
    if n_written == len(messages):
        return True, f"All {n_written} buttons and messages are your own."
    return False, (
        f"There are no buttons and messages in the language “{study.language}”: participants read them in "
        f"English. Write your own ({n_written} of {len(messages)} are written), or choose another language."
    )


def _languages_differ(study: Experiment) -> list[Step]:
    """One line where the materials are in another language than the pages of the study."""
    materials = study.materials.language if study.materials else ""
    if not materials or _primary(materials) in {"und", _primary(study.language)}:
        return []
    reason = (
        f"The materials are in “{materials}”, buttons, messages and reports in “{study.language}”. "
        "Change the language of the study, or waive this if it is meant."
    )
    return [Step("materials-language", "Language of the materials", False, reason, "study-settings-study")]


def _primary(tag: str) -> str:
    """The language of a tag without script and region."""
    return tag.lower().replace("_", "-").partition("-")[0]


def _retention(study: Experiment) -> tuple[bool, str]:
    if found := KEEPING.search(study.consent):
        start = max(study.consent.rfind(end, 0, found.start()) for end in ".\n") + 1
        said = study.consent[start:].lstrip(" -*").split("\n")[0].partition(". ")[0]
        return True, f"“{said[:150].rstrip('.')}”: read whether it names how long and under which name."
    return False, "The consent text does not say how long answers are stored, nor under which name."


def _contact(study: Experiment) -> tuple[bool, str]:
    if study.contact.strip():
        return True, f"At the foot of every page: {study.contact.strip()}"
    if _ADDRESS.search(study.consent):
        return True, "The consent text has an address for questions."
    return (
        False,
        "Participants find no address for questions, neither at the foot of pages nor in the consent.",
    )


def _time(study: Experiment, lists: Lists) -> tuple[bool, str]:
    if lists.problem:
        return False, "There are no lists yet."
    estimate = minutes(study, n_trials=lists.n_trials)
    text = f"About {estimate} min: {lists.n_trials} trials, the texts and questions."
    if study.reward_minor:
        hourly = round(study.reward_minor * 60 / estimate)
        text += f" The reward comes to {format_money(hourly, study.currency)} an hour."
        if hourly < (least := LEAST_HOURLY.get(study.currency, 0)):
            return (
                False,
                f"{text} Prolific takes no study below {format_money(least, study.currency)} an hour.",
            )
    if estimate > LONG_MINUTES:
        return (
            False,
            f"{text} Longer than {LONG_MINUTES} min tires participants: split the items over more lists.",
        )
    return True, text


def _rehearsal_step(rehearsed: Rehearsals) -> tuple[bool, str]:
    if rehearsed.by_people_now:
        return True, f"{rehearsed.by_people_now} complete, of the present version."
    if rehearsed.by_people:
        return True, f"{rehearsed.by_people} complete, of an earlier version: check what has changed."
    return False, "Take it yourself to the end, on a phone too; it never counts."


def _dry_run(rehearsed: Rehearsals) -> tuple[bool, str]:
    if rehearsed.dry_run and rehearsed.dry_run.state == Job.State.FAILED:
        return False, f"The last one failed: {rehearsed.dry_run.error}"
    if rehearsed.dry_run and rehearsed.dry_run.state != Job.State.DONE:
        return False, "Simulated participants are taking it."
    if rehearsed.simulated_now:
        return True, f"{rehearsed.simulated_now} simulated participants completed the present version."
    return False, "Let simulated participants take it; they never count."


def _lists_reason(lists: Lists) -> str:
    if lists.problem:
        return lists.problem
    same = lists.n_trials == lists.n_fewest
    length = str(lists.n_trials) if same else f"{lists.n_fewest} to {lists.n_trials}"
    rounds = f" in {lists.n_rounds} rounds" if lists.n_rounds > 1 else ""
    return f"{lists.n_lists} lists{rounds} of {length} trials."


def materials_reason(study: Experiment) -> str:
    """The chosen materials, or what to choose."""
    return f"{study.materials.name}." if study.materials else "Choose the sentences or pairs to judge."


def task_label(study: Experiment) -> str:
    """The label of the task."""
    return f"{get_task(study.task).label}."


def task_problem(study: Experiment) -> str:
    """Why the settings of the task are invalid; empty when they are valid."""
    try:
        get_task(study.task).settings(study.parameters)
    except BadInput as error:
        return _sentence(error)
    return ""


def _sentence(error: BadInput) -> str:
    return str(error)[:1].upper() + str(error)[1:]
