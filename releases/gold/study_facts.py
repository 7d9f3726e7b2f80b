"""Facts of a study for methods paragraphs and reports, beside their numbers."""

import platform
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

import pandas as pd
from django.conf.locale import LANG_INFO
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from config.version import code_version
from experiments.intake.language import UNDETERMINED
from experiments.models import Experiment, Item, MaterialSet, PlannedTrial, TrialKind
from experiments.studies.readiness import count_contexts
from experiments.studies.targets import target_noun
from experiments.tasks.registry import shown_task
from judgments.frames.build import tie_treatment
from judgments.models import Consent, Judgment, Participant, Session
from judgments.monitoring.dropout import dropout_by_screen
from judgments.monitoring.overview import counted_sessions, median_seconds
from releases.gold.describe import answered_between, real_sessions

SOFTWARE = ("numpy", "pandas", "scipy", "altair", "vl-convert-python", "typst")
TEXTS = ("consent", "instructions", "debrief")


def study_facts(study: Experiment, round_number: int | None = None) -> dict[str, Any]:
    """Facts of the study, ready for JSON.

    With a round, participants, times and durations are those of the round; screens cover all rounds.
    """
    return {
        **methods_facts(study, round_number),
        "slug": study.slug,
        "title": study.title,
        "description": study.description,
        "round": round_number,
        "task": study.task,
        "undecided": tie_treatment(study),
        "language": study.language,
        "language_name": language_name(study.language),
        "texts": [name for name in TEXTS if getattr(study, name).strip()],
        "questions": [
            str(question.get("name", "")) for question in study.questionnaire if isinstance(question, dict)
        ],
        "quiz": len(study.quiz or []),
        "versions": _versions(study),
        "pay": {"reward_minor": study.reward_minor, "currency": study.currency},
        "flow": _flow(study, round_number),
        "median_minutes": _minutes(study, round_number),
        "simulated": _count_simulated(study, round_number),
        "software": software(),
    }


def methods_facts(study: Experiment, round_number: int | None = None) -> dict[str, Any]:
    """Facts of the study that a methods paragraph states: task, materials, lists, recruiters and dates."""
    first, last = answered_between(study, round_number)
    return {
        "origin": study.origin,
        "parameters": {
            parameter.name: _parameter(study, parameter) for parameter in shown_task(study.task).parameters
        },
        "materials": _materials(study.materials),
        "contexts": context_facts(study),
        **({"deadline": deadline} if (deadline := deadline_facts(study, round_number)) else {}),
        "design": _design(study),
        "lists": _lists(study),
        "recruiters": _recruiters(study),
        "answered": {"first": first, "last": last},
    }


def context_facts(study: Experiment) -> dict[str, Any] | None:
    """How many sentences have contexts, and whether participants saw them; None without contexts.

    ``shown`` is ``above``, ``before``, ``hidden`` or, where versions differ, ``above or before`` or ``some``;
    ``unknown`` for imported judgments of which nothing is stated. Where a context was on a separate screen,
    ``ms`` lists how long versions showed it, and ``median_ms`` is the median time of participants who left it
    themselves.
    """
    n_contexts = count_contexts(study.materials)
    if not n_contexts:
        return None
    hidden = Experiment.ContextDisplay.HIDDEN.value
    versions = study.versions.filter(pk__in=real_sessions(study).values("version"))
    if study.origin == Experiment.Origin.IMPORTED:
        versions = versions.none()
    snapshots = list(versions.values_list("snapshot", flat=True))
    displays = {snapshot.get("context_display", hidden) for snapshot in snapshots} or {study.context_display}
    is_shown = displays <= Experiment.ContextDisplay.shown()
    several = "above or before" if is_shown else "some"
    facts = {"sentences": n_contexts, "shown": next(iter(displays)) if len(displays) == 1 else several}
    if Experiment.ContextDisplay.BEFORE not in displays:
        return facts
    timed = {snapshot["context_ms"] for snapshot in snapshots if snapshot.get("context_ms")}
    return {**facts, "ms": sorted(timed), "median_ms": _median_context_ms(study)}


def _median_context_ms(study: Experiment) -> float | None:
    answers = Judgment.objects.filter(trial__session__in=real_sessions(study), timing__has_key="context_ms")
    times = answers.exclude(timing__has_key="context_planned_ms").values_list("timing__context_ms", flat=True)
    numbers = [float(ms) for ms in times.iterator() if isinstance(ms, int | float)]
    return median(numbers) if numbers else None


def deadline_facts(study: Experiment, round_number: int | None = None) -> dict[str, Any] | None:
    """The deadlines of the versions that participants saw, and how many target trials timed out.

    ``ms``: the limits, ascending; ``is_everywhere``: whether every version had one. None without a deadline.
    """
    sessions = real_sessions(study, round_number)
    snapshots = study.versions.filter(pk__in=sessions.values("version")).values_list("snapshot", flat=True)
    limits = {snapshot.get("deadline_ms") for snapshot in snapshots}
    if not limits - {None}:
        return None
    rows = Judgment.objects.filter(trial__session__in=sessions, trial__kind=TrialKind.TARGET)
    n_timed_out = rows.filter(status=Judgment.Status.TIMED_OUT).count()
    return {
        "ms": sorted(limits - {None}),
        "is_everywhere": None not in limits,
        "timed_out": n_timed_out,
        "trials": rows.count(),
    }


def software() -> dict[str, str]:
    """Names and versions of the software that computes and draws."""
    versions = {"Obelus": code_version(), "Python": platform.python_version()}
    for name in SOFTWARE:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def language_name(tag: str) -> str:
    """English name of a language, or its tag if Django does not know it."""
    if tag == UNDETERMINED:
        return "language not stated"
    names = {name.lower(): info for name, info in LANG_INFO.items() if "name" in info}
    language = names.get(tag.lower()) or names.get(tag.lower().partition("-")[0])
    return str(language["name"]) if language else tag


def _parameter(study: Experiment, parameter: Any) -> Any:
    return study.parameters.get(parameter.name, parameter.default)


def _materials(materials: MaterialSet | None) -> dict[str, Any] | None:
    if materials is None:
        return None
    paradigms = Item.objects.filter(material_set=materials, paradigm__isnull=False)
    return {
        "name": materials.name,
        "language": materials.language,
        "language_name": language_name(materials.language),
        "source": materials.source,
        "licence": materials.licence,
        "checksum": materials.checksum,
        "phenomena": materials.phenomena.count(),
        "paradigms": paradigms.values("paradigm").distinct().count(),
        "items": materials.items.count(),
        "sentences": materials.sentences.count(),
        "pairs": materials.pairs.filter(discard=False).count(),
    }


def _design(study: Experiment) -> dict[str, Any] | None:
    design = getattr(study, "design", None)
    if design is None:
        return None
    return {
        "scheme": design.get_kind_display(),
        "n_lists": design.n_lists,
        "items_per_paradigm": design.items_per_paradigm,
        "catch_per_list": design.catch_per_list,
        "fillers": str(design.filler_materials) if design.filler_materials else "",
        "rounds": 1 + len(design.rounds),
        "order": design.get_order_display(),
        "constraints": design.constraints,
        "seed": design.seed or study.seed,
        "wanted": study.target_judgments,
        "wanted_of": target_noun(study),
    }


def _lists(study: Experiment) -> dict[str, Any] | None:
    """Lists of the newest version: their number, and the range of trials of each kind."""
    newest = study.current_version()
    if newest is None:
        return None
    planned = PlannedTrial.objects.filter(list__version=newest)
    kinds = {str(kind): Count("pk", filter=Q(kind=kind)) for kind in TrialKind.values}
    counts = planned.values("list").order_by().annotate(**kinds)
    rows: list[dict[str, Any]] = [dict(row) for row in counts]
    if not rows:
        return None
    return {
        "n": len(rows),
        "trials": {kind: [min(row[kind] for row in rows), max(row[kind] for row in rows)] for kind in kinds},
    }


def _versions(study: Experiment) -> list[dict[str, Any]]:
    rows = study.versions.filter(is_preview=False).order_by("number")
    return [
        {"number": row.number, "sha256": row.sha256, "frozen": f"{row.created_at:%Y-%m-%d}"} for row in rows
    ]


def _recruiters(study: Experiment) -> list[dict[str, Any]]:
    rows = study.campaigns.order_by("pk").values_list("recruiter", "reward_minor", "currency")
    return [
        {"recruiter": name, "reward_minor": reward, "currency": currency} for name, reward, currency in rows
    ]


def _flow(study: Experiment, round_number: int | None) -> dict[str, Any]:
    """Participants by stage, sessions by final status, and drop-out by screen."""
    sessions = real_sessions(study, round_number)
    ended = {status: sessions.filter(status=status).count() for status in Session.Status.values}
    participants = {str(stage): int(n) for stage, n in stages(study, round_number).itertuples(index=False)}
    return {
        "people": participants,
        "sessions": sessions.count(),
        "ended": ended,
        "consents": _consents(study, round_number),
        "screens": [
            {"screen": stage.label, "reached": stage.n_reached, "left": stage.n_left}
            for stage in (
                dropout_by_screen(study) if study.origin == "collected" and round_number is None else []
            )
        ],
    }


def stages(study: Experiment, round_number: int | None = None) -> pd.DataFrame:
    """Participants who opened the study or a round, consented, answered and finished; without tests."""
    sessions = real_sessions(study, round_number)
    answered = sessions.filter(Exists(Judgment.objects.filter(trial__session=OuterRef("pk"))))
    refused = Participant.objects.filter(consents__given=False).exclude(consents__given=True)
    participants = {
        "opened": sessions.values("participant").distinct().count(),
        "consented": sessions.exclude(participant__in=refused).values("participant").distinct().count(),
        "started": answered.values("participant").distinct().count(),
        "finished": sessions.filter(status=Session.Status.COMPLETE).values("participant").distinct().count(),
    }
    return pd.DataFrame({"stage": list(participants), "participants": list(participants.values())})


def _count_simulated(study: Experiment, round_number: int | None) -> int:
    """Count simulated participants; those of dry runs and previews took no part in the study."""
    simulated = _participants(study, round_number).filter(is_simulated=True, sessions__is_test=False)
    return simulated.distinct().count()


def _participants(study: Experiment, round_number: int | None) -> QuerySet[Participant]:
    if round_number is None:
        return study.participants.all()
    return study.participants.filter(pk__in=real_sessions(study, round_number).values("participant"))


def _consents(study: Experiment, round_number: int | None) -> int:
    return Consent.objects.filter(participant__in=_participants(study, round_number), given=True).count()


def _minutes(study: Experiment, round_number: int | None) -> float | None:
    if study.origin != "collected":
        return None
    seconds = median_seconds(counted_sessions(study).filter(pk__in=real_sessions(study, round_number)))
    return round(seconds / 60, 1) if seconds else None
