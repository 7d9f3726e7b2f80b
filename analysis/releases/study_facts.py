"""What a report says of a study beside its numbers: design, texts' languages, versions, who came and left."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.conf.locale import LANG_INFO
from django.db.models import Count, Q, QuerySet

from analysis.releases.people import answered_between, sittings_of
from analysis.releases.study_evidence import stages
from config.version import code_version
from experiments.models import Experiment, Item, MaterialSet, PlannedTrial, TrialKind
from judgments.declared import treatment_of
from judgments.leaving import leaving
from judgments.models import Consent, Participant, Session
from judgments.monitor import counted_sessions, median_seconds
from judgments.tasks.registry import shown_task

SOFTWARE = ("numpy", "pandas", "scipy", "pingouin", "statsmodels", "altair", "vl-convert-python", "typst")
TEXTS = ("consent", "instructions", "debrief")


def study_facts(study: Experiment, round_number: int | None = None) -> dict[str, Any]:
    """Plain values, ready for JSON; the same for the same study, code and machine.

    Of one round: who came, when they answered, how long it took; screens are counted over all rounds only.
    """
    first, last = answered_between(study, round_number)
    return {
        "slug": study.slug,
        "title": study.title,
        "description": study.description,
        "origin": study.origin,
        "round": round_number,
        "task": study.task,
        "parameters": {one.name: _parameter(study, one) for one in shown_task(study.task).parameters},
        "undecided": treatment_of(study),
        "language": study.language,
        "language_name": language_name(study.language),
        "texts": [name for name in TEXTS if getattr(study, name).strip()],
        "questions": [str(one.get("name", "")) for one in study.questionnaire if isinstance(one, dict)],
        "quiz": len(study.quiz or []),
        "materials": _materials(study.materials),
        "design": _design(study),
        "lists": _lists(study),
        "versions": _versions(study),
        "recruiters": _recruiters(study),
        "pay": {"reward_minor": study.reward_minor, "currency": study.currency},
        "flow": _flow(study, round_number),
        "median_minutes": _minutes(study, round_number),
        "answered": {"first": first, "last": last},
        "simulated": _people(study, round_number).filter(is_simulated=True).count(),
        "software": software(),
    }


def software() -> dict[str, str]:
    """Names and versions of what computed and drew."""
    found = {"Obelus": code_version(), "Python": platform.python_version()}
    for name in SOFTWARE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def language_name(tag: str) -> str:
    """The English name of a language where Django knows it, else its tag."""
    known = {name.lower(): info for name, info in LANG_INFO.items() if "name" in info}
    found = known.get(tag.lower()) or known.get(tag.lower().partition("-")[0])
    return str(found["name"]) if found else tag


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
        "constraints": design.constraints,
        "seed": design.seed or study.seed,
        "wanted": study.target_judgments,
    }


def _lists(study: Experiment) -> dict[str, Any] | None:
    """The newest version's lists: how many, and how many trials of each kind one has."""
    newest = study.current_version()
    if newest is None:
        return None
    planned = PlannedTrial.objects.filter(list__version=newest)
    kinds = {str(kind): Count("pk", filter=Q(kind=kind)) for kind in TrialKind.values}
    rows = list(planned.values("list").order_by().annotate(**kinds))
    if not rows:
        return None
    return {
        "n": len(rows),
        "trials": {kind: [min(row[kind] for row in rows), max(row[kind] for row in rows)] for kind in kinds},
    }


def _versions(study: Experiment) -> list[dict[str, Any]]:
    rows = study.versions.filter(is_preview=False).order_by("number")
    return [
        {"number": one.number, "sha256": one.sha256, "frozen": f"{one.created_at:%Y-%m-%d}"} for one in rows
    ]


def _recruiters(study: Experiment) -> list[dict[str, Any]]:
    rows = study.campaigns.order_by("pk").values_list("recruiter", "reward_minor", "currency")
    return [
        {"recruiter": name, "reward_minor": reward, "currency": currency} for name, reward, currency in rows
    ]


def _flow(study: Experiment, round_number: int | None) -> dict[str, Any]:
    """People by stage, then sittings by how they ended, then where they were left."""
    sittings = sittings_of(study, round_number)
    ended = {status: sittings.filter(status=status).count() for status in Session.Status.values}
    people = {str(stage): int(n) for stage, n in stages(study, round_number).itertuples(index=False)}
    return {
        "people": people,
        "sessions": sittings.count(),
        "ended": ended,
        "consents": _consents(study, round_number),
        "screens": [
            {"screen": stage.label, "reached": stage.n_reached, "left": stage.n_left}
            for stage in (leaving(study) if study.origin == "collected" and round_number is None else [])
        ],
    }


def _people(study: Experiment, round_number: int | None) -> QuerySet[Participant]:
    if round_number is None:
        return study.participants.all()
    return study.participants.filter(pk__in=sittings_of(study, round_number).values("participant"))


def _consents(study: Experiment, round_number: int | None) -> int:
    return Consent.objects.filter(participant__in=_people(study, round_number), given=True).count()


def _minutes(study: Experiment, round_number: int | None) -> float | None:
    if study.origin != "collected":
        return None
    seconds = median_seconds(counted_sessions(study).filter(pk__in=sittings_of(study, round_number)))
    return round(seconds / 60, 1) if seconds else None
