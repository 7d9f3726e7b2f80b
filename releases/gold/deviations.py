"""Deviations from the preregistered version, with what it does not state, and their reasons."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analysis.choices import CORRECTION_NAMES
from analysis.errors import BadInput
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan
from analysis.report.deviations import (
    DEVIATION,
    IN_PROGRESS,
    NO_PLAN_TEXT,
    NOT_STATED,
    NOT_STATED_TEXT,
    PLANNED,
)
from analysis.report.wording import join_list
from analysis.rows import RATING_TASKS
from analysis.text import no_formula, plural
from experiments.lists.rounds import fewest_showings
from experiments.models import AuditEntry, Experiment, ExperimentVersion
from experiments.studies.lifecycle import snapshot
from experiments.studies.targets import participants_needed, target_noun
from experiments.templatetags.wording import in_words
from judgments.models import Judgment, Session
from releases.gold.describe import answered_between, real_sessions
from releases.gold.frozen_plan import (
    CHOSEN,
    QUOTAS_CHANGED,
    Settings,
    brief,
    contrast,
    preregistered_version,
    setting_changes,
    setting_label,
    shorten_text,
    stated_settings,
)
from releases.gold.options import Options, ReportOptions
from releases.gold.plans import as_plan, current_plan_row, find_plan, judgments_for
from releases.models import DeviationReason, ExclusionPlan, Look

LONGEST_REASON = 2000
GROUPS = {  # settings of a version that are one row where none of them was changed
    "task": ("Task", ("task",)),
    "parameters": ("Scale and wording of the screen", ("parameters.",)),
    "materials": ("Materials", ("materials", "fillers")),
    "design": ("Design and lists", ("design.",)),
    "catch_trials": ("Catch trials", ("catch_trials",)),
    "practice": ("Practice trials and anchors", ("practice", "anchors")),
    "texts": ("Texts", ("consent", "instructions", "debrief", "language")),
    "questions": ("Questions to participants", ("questionnaire", "quiz")),
}
SETTINGS = {  # of the study, outside every version
    "target_judgments": "Target",
    "target_unit": "Unit of the target",
    "max_participants": "Limit of participants",
    "quotas": "Quotas",
}
IN_VERSION, IN_SETTINGS = "frozen version", "history of settings"
IN_EXCLUSION_PLAN = "exclusion plan fixed before the first answer"
TIES = {"strict": "a tie agrees with nothing", "half": "a tie counts one half", "drop": "ties are left out"}
CURRENT_CHANGED = "current exclusion plan changed"
CountSessions = Callable[[Plan, Plan], int]


def reasons_by_row(study: Experiment) -> dict[str, list[DeviationReason]]:
    """Every version of every reason by the key of its row, the newest first."""
    reasons: dict[str, list[DeviationReason]] = {}
    rows = DeviationReason.objects.filter(experiment=study).select_related("author").order_by("-pk")
    for row in rows:
        reasons.setdefault(row.key, []).append(row)
    return reasons


@transaction.atomic
def write_reason(
    study: Experiment, key: str, *, text: str, keys: Collection[str], user: Any = None
) -> DeviationReason | None:
    """Store a version of the reason of one of the list's rows, whose keys are given.

    An empty text withdraws the reason; the same text again changes nothing and returns None.
    """
    text = "\n".join(text.split("\r\n")).strip()
    if key not in keys:
        raise BadInput(f"the list of deviations has no row {key!r}.", column="key", remedy="Reload the list.")
    if len(text) > LONGEST_REASON:
        raise BadInput(
            f"the reason has {len(text):,} characters.",
            column="text",
            remedy=f"Write at most {LONGEST_REASON:,}.",
        )
    # Race: the lock on the study serializes two editors, so that a double click is one version.
    Experiment.objects.select_for_update().get(pk=study.pk)
    newest = DeviationReason.objects.filter(experiment=study, key=key).order_by("-pk").first()
    if (newest.text if newest else "") == text:
        return None
    details = {"row": key, "reason": text or "withdrawn"}
    AuditEntry.objects.create(experiment=study, user=user, action="reason of a deviation", details=details)
    return DeviationReason.objects.create(experiment=study, key=key, text=text, author=user)


@dataclass(frozen=True)
class Aspect:
    """One row: what was planned of an aspect of the study, and what was done."""

    key: str
    aspect: str
    planned: str
    done: str
    verdict: str
    stated_in: str = ""
    since: str = ""
    sessions_affected: int | None = None


@dataclass(frozen=True)
class FrozenPlan:
    """The preregistered version, the later ones, and the history of settings that no version has."""

    study: Experiment
    version: ExperimentVersion
    later: Sequence[ExperimentVersion]
    sessions: dict[int, int]  # judged sessions by the key of their version
    changes: dict[str, list[tuple[datetime, Any, Any]]]

    def setting(self, name: str) -> Any:
        """The value of a setting when the version was frozen."""
        changes = self.changes.get(name)
        return changes[0][1] if changes else getattr(self.study, name)


def list_deviations(
    study: Experiment, options: Options, *, count_sessions: CountSessions | None = None
) -> dict[str, Any]:
    """The list of deviations with its reasons, ready for JSON.

    ``count_sessions`` counts the sessions that two exclusion plans treat differently.
    """
    round_number = options.round_number
    judged = _judged_sessions(study, round_number)
    plan = _frozen_plan(study, judged)
    count = count_sessions or (lambda first, second: differing_sessions(study, first, second, round_number))
    aspects = [
        *_planned_aspects(plan, judged, round_number),
        _exclusion_aspect(study, find_plan(study, options.exclude), count),
        *_choice_aspects(study, options),
    ]
    if plan is None:
        aspects = [
            replace(aspect, planned=aspect.planned.replace(NOT_STATED_TEXT, NO_PLAN_TEXT))
            for aspect in aspects
        ]
    reasons = reasons_by_row(study)
    return {
        "experiment": study.slug,
        "compared_with": _compared_with(plan),
        "rows": [_row(aspect, reasons.get(aspect.key, [])) for aspect in aspects],
        "not_frozen": _not_frozen(study),
        "options": options.as_dict(),
    }


def _row(aspect: Aspect, reasons: list[DeviationReason]) -> dict[str, Any]:
    newest = reasons[0] if reasons and reasons[0].text else None
    return {
        **asdict(aspect),
        "reason": newest.text if newest else "",
        "reason_at": f"{newest.created_at:%Y-%m-%dT%H:%M:%SZ}" if newest else "",
    }


def published_rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows as a release has them: no text that a spreadsheet would run as a formula."""
    return [{name: no_formula(value) for name, value in row.items()} for row in document["rows"]]


def _compared_with(plan: FrozenPlan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    versions = [
        {
            "version": row.number,
            "sha256": row.sha256,
            "frozen": f"{row.created_at:%Y-%m-%d}",
            "sessions": plan.sessions.get(row.pk, 0),
        }
        for row in _versions(plan.study)
    ]
    compared = next(row for row in versions if row["version"] == plan.version.number)
    identity = {name: compared[name] for name in ("version", "sha256", "frozen")}
    return {**identity, "versions": versions}


def _versions(study: Experiment) -> QuerySet[ExperimentVersion]:
    return study.versions.filter(is_preview=False).order_by("number")


def _not_frozen(study: Experiment) -> list[str]:
    """Settings that were changed since the newest version, which has no judgments yet."""
    newest = study.current_version()
    if newest is None or study.status == Experiment.Status.CLOSED:
        return []
    frozen, today = stated_settings(newest.snapshot), stated_settings(snapshot(study))
    return [setting_label(name) for name in today if name in frozen and today[name] != frozen[name]]


def _judged_sessions(study: Experiment, round_number: int | None) -> QuerySet[Session]:
    """Sessions with an answer, without tests."""
    answers = Judgment.objects.filter(trial__session=OuterRef("pk"))
    return real_sessions(study, round_number).filter(Exists(answers)).order_by()


def _frozen_plan(study: Experiment, judged: QuerySet[Session]) -> FrozenPlan | None:
    is_collected = study.origin == Experiment.Origin.COLLECTED
    version = preregistered_version(study) if is_collected else None
    if version is None:
        return None
    changes = defaultdict(list)
    for name, at, old, new in setting_changes(study, version.created_at):
        changes[name].append((at, old, new))
    return FrozenPlan(
        study=study,
        version=version,
        later=list(_versions(study).filter(number__gt=version.number)),
        sessions=dict(judged.values_list("version").annotate(Count("pk"))),
        changes=dict(changes),
    )


def _planned_aspects(
    plan: FrozenPlan | None, judged: QuerySet[Session], round_number: int | None
) -> Iterator[Aspect]:
    if plan is not None:
        yield from _version_aspects(plan)
        yield from _setting_aspects(plan, judged)
        yield from _sample_aspects(plan, round_number)


def _version_aspects(plan: FrozenPlan) -> Iterator[Aspect]:
    """Settings that later versions changed, and groups of settings that all versions share."""
    planned = stated_settings(plan.version.snapshot)
    later = [(version, stated_settings(version.snapshot)) for version in plan.later]
    names = list(dict.fromkeys([*planned, *(name for _, settings in later for name in settings)]))
    changed = [name for name in names if any(_differs(name, planned, settings) for _, settings in later)]
    yield from (_changed_setting(plan, name, planned, later) for name in changed)
    listed = set(changed)
    for key, (label, starts) in GROUPS.items():
        members = [name for name in names if name.startswith(starts)]
        if not {*members} & {*changed}:
            yield _unchanged_group(plan, key, label, {name: planned[name] for name in members})
            listed |= {*members}
    remaining = [setting_label(name).lower() for name in names if name not in listed]
    yield Aspect("others", "Other settings", ", ".join(remaining), "as planned", PLANNED, IN_VERSION)


def _differs(name: str, planned: Settings, settings: Settings) -> bool:
    return (name in planned, planned.get(name)) != (name in settings, settings.get(name))


def _changed_setting(
    plan: FrozenPlan, name: str, planned: Settings, later: list[tuple[ExperimentVersion, Settings]]
) -> Aspect:
    differing = [(version, settings) for version, settings in later if _differs(name, planned, settings)]
    first, value = differing[0][0], planned.get(name)
    texts, before = [], value
    for version, settings in later:
        actual = settings.get(name)
        if actual != before or (version == first and name not in planned):
            text = "as planned again" if actual == value else contrast(name, value, actual)[1]
            texts.append(f"from version {version.number}: {text}")
        before = actual
    is_stated = name in planned
    return Aspect(
        key=name,
        aspect=setting_label(name),
        planned=contrast(name, value, differing[0][1].get(name))[0] if is_stated else NOT_STATED_TEXT,
        done="; ".join(texts),
        verdict=DEVIATION if is_stated else NOT_STATED,
        stated_in=IN_VERSION if is_stated else "",
        since=f"{first.created_at:%Y-%m-%d}",
        sessions_affected=sum(plan.sessions.get(version.pk, 0) for version, _ in differing),
    )


def _unchanged_group(plan: FrozenPlan, key: str, label: str, stated: Settings) -> Aspect:
    """A group as it is stated; not stated where the version was frozen without it."""
    if not stated:
        today = stated_settings(snapshot(plan.study))
        actual = {name: value for name, value in today.items() if name.startswith(GROUPS[key][1])}
        return Aspect(key, label, NOT_STATED_TEXT, f"today: {_in_brief(actual)}", NOT_STATED)
    return Aspect(key, label, _in_brief(stated), "as planned", PLANNED, IN_VERSION)


def _in_brief(settings: Settings) -> str:
    if len(settings) == 1:
        return brief(*next(iter(settings.items())))
    labelled = {
        setting_label(name).partition(": ")[2] or setting_label(name): (name, settings[name])
        for name in settings
    }
    texts = {label: brief(*setting) for label, setting in labelled.items()}
    stated = [f"{label.lower()}: {text}" for label, text in texts.items() if text != "none"]
    return shorten_text("; ".join(stated)) or "none"


def _setting_aspects(plan: FrozenPlan, judged: QuerySet[Session]) -> Iterator[Aspect]:
    """Target, limit and quotas, which no version has: the history tells what they were."""
    frozen = f"when version {plan.version.number} was frozen"
    for name, label in SETTINGS.items():
        changes = plan.changes.get(name, [])
        was = f"{_setting_text(plan.study, name, plan.setting(name))} {frozen}"
        if changes:
            done = "; ".join(
                f"{_setting_text(plan.study, name, new)} from {at:%Y-%m-%d}" for at, _, new in changes
            )
            since = changes[0][0]
            affected = judged.filter(started_at__gte=since).count()
            planned = f"{was}, by the {IN_SETTINGS}; {NOT_STATED_TEXT}"
            yield Aspect(name, label, planned, done, DEVIATION, IN_SETTINGS, f"{since:%Y-%m-%d}", affected)
        elif name != "target_unit":
            actual = f"{_setting_text(plan.study, name, getattr(plan.study, name))}, unchanged"
            yield Aspect(name, label, f"{NOT_STATED_TEXT}; {was}", actual, NOT_STATED, IN_SETTINGS)


def _setting_text(study: Experiment, name: str, value: Any) -> str:
    if name == "target_judgments":
        return f"{value:,} {target_noun(study)}" if value else "no target"
    if name == "max_participants":
        return f"at most {plural(value, 'participant')}" if value else "no limit"
    if name == "quotas":
        rows = [f"{row['question']} = {row['answer']}: at most {row['limit']}" for row in value]
        return shorten_text("; ".join(rows)) or "no quotas"
    return dict(Experiment.TargetUnit.choices).get(value, str(value))


def _sample_aspects(plan: FrozenPlan, round_number: int | None) -> Iterator[Aspect]:
    """Complete sessions of each round against those that its target takes."""
    numbers = sorted({*plan.version.lists.order_by().values_list("round", flat=True)})
    for number in numbers if round_number is None else [round_number]:
        needed = _needed_sessions(plan, number)
        complete = real_sessions(plan.study, number).filter(status=Session.Status.COMPLETE)
        n_complete = complete.count()
        if number <= plan.study.current_round or n_complete:
            aspect = _sample_aspect(plan, needed, complete, n_complete)
            suffix = f", round {number}" if len(numbers) > 1 else ""
            key = f"{aspect.key}.{number}" if number > 1 else aspect.key
            yield replace(aspect, key=key, aspect=f"{aspect.aspect}{suffix}")


def _needed_sessions(plan: FrozenPlan, number: int) -> int | None:
    """Sessions that target and limit of a round took when the version was frozen; None without either."""
    rounds = (plan.version.snapshot.get("design") or {}).get("rounds") or []
    limits = rounds[number - 2] if 2 <= number <= len(rounds) + 1 else {}
    target, limit = (
        plan.setting(name) if limits.get(name) is None else limits[name]
        for name in ("target_judgments", "max_participants")
    )
    lists = plan.version.lists.filter(round=number)
    n_lists, fewest = fewest_showings(lists, unit=plan.setting("target_unit"))
    numbers = [participants_needed(target, n_lists=n_lists, fewest=fewest) if fewest else 0, limit]
    return min((needed for needed in numbers if needed), default=None)


def _sample_aspect(
    plan: FrozenPlan, needed: int | None, complete: QuerySet[Session], n_complete: int
) -> Aspect:
    key, label, done = "participants", "Number of participants", plural(n_complete, "complete session")
    if needed is None:
        return Aspect(key, label, f"{NOT_STATED_TEXT}; no target", done, NOT_STATED)
    frozen = f"by target and limit when version {plan.version.number} was frozen"
    planned = f"{plural(needed, 'complete session')} {frozen}; {NOT_STATED_TEXT}"
    is_closed, beside = plan.study.status == Experiment.Status.CLOSED, abs(n_complete - needed)
    if n_complete > needed:
        surplus = complete.filter(completed_at__isnull=False).order_by("completed_at", "pk")[needed:].first()
        since = f"{surplus.completed_at:%Y-%m-%d}" if surplus and surplus.completed_at else ""
        return Aspect(
            key,
            label,
            planned,
            f"{done}, {beside} more",
            DEVIATION,
            IN_SETTINGS,
            since,
            sessions_affected=beside,
        )
    if n_complete == needed:
        return Aspect(key, label, f"{NOT_STATED_TEXT}; {plural(needed, 'complete session')} {frozen}", done,
                      NOT_STATED, IN_SETTINGS)  # fmt: skip
    if is_closed:
        closed = f"{plan.study.closed_at:%Y-%m-%d}" if plan.study.closed_at else ""
        return Aspect(
            key, label, planned, f"closed with {done}, {beside} fewer", DEVIATION, IN_SETTINGS, closed
        )
    return Aspect(key, label, planned, f"{done} so far", IN_PROGRESS, IN_SETTINGS)


def _exclusion_aspect(study: Experiment, actual: Plan, count_sessions: CountSessions) -> Aspect:
    """The exclusions that were used against the plan that was fixed before the first answer."""
    registered, done = _registered_plans(study), _plan_text(actual)
    key, label, since = "exclusion_plan", "Exclusions", _since(study, actual)
    if not registered:
        after = " (plan written after the first answer)" if actual.created_at else ""
        return Aspect(key, label, NOT_STATED_TEXT, f"{done}{after}", NOT_STATED, since=since)
    planned = join_list([_plan_text(plan) for plan in registered])
    if actual.sha256 in {plan.sha256 for plan in registered}:
        return Aspect(key, label, planned, "as planned", PLANNED, IN_EXCLUSION_PLAN)
    nearest = next((plan for plan in registered if plan.name == actual.name), registered[0])
    try:
        affected: int | None = count_sessions(nearest, actual)
    except BadInput as error:  # a step was written for an earlier version of a signal
        affected, done = None, f"{done}; sessions cannot be counted: {error}"
    return Aspect(key, label, planned, done, DEVIATION, IN_EXCLUSION_PLAN, since, affected)


def _registered_plans(study: Experiment) -> list[Plan]:
    """The plan that was current at the first answer; else the newest of each name written before it."""
    rows = ExclusionPlan.objects.filter(experiment=study, locked_before_first_response=True)
    locked = {str(row): row for row in rows.select_related("author").order_by("name", "version")}
    current = locked.get(_current_at_first_answer(study))
    newest = {row.name: row for row in locked.values()}
    return [as_plan(row) for row in ([current] if current else newest.values())]


def _current_at_first_answer(study: Experiment) -> str:
    first = answered_between(study)[0]
    changes = study.audit.filter(action=CURRENT_CHANGED).order_by("at", "pk")
    later = changes.filter(at__gt=datetime.fromisoformat(first)).first() if first else None
    return str(later.details.get("before")) if later else str(current_plan_row(study))


def _since(study: Experiment, actual: Plan) -> str:
    """Date on which the plan became current, or was stored; empty for steps that are not stored."""
    name = f"{actual.name} v{actual.version}" if actual.steps else "none"
    changes = study.audit.filter(action=CURRENT_CHANGED, details__after=name)
    newest = changes.order_by("at", "pk").last()
    return f"{newest.at:%Y-%m-%d}" if newest else actual.created_at[:10]


def _plan_text(plan: Plan) -> str:
    """Name and steps of a plan with their parameters."""
    if not plan.steps:
        return "nothing is excluded"
    steps = []
    for step in plan.steps:
        settings = ", ".join(
            f"{name.replace('_', ' ')} {in_words(value)}" for name, value in step.parameters.items()
        )
        steps.append(f"{step.name.replace('_', ' ')}{f' ({settings})' if settings else ''}")
    name = f"plan {plan.name} v{plan.version}" if plan.created_at else "steps that are not stored as a plan"
    return f"{name}: {join_list(steps)}"


def differing_sessions(study: Experiment, first: Plan, second: Plan, round_number: int | None = None) -> int:
    """Count the sessions of which two plans keep different judgments."""
    reading = first if first.has_signals else second
    judgments = judgments_for(study, reading, round_number=round_number)
    indices = [apply_plan(judgments, plan).kept.index for plan in (first, second)]
    return int(judgments.loc[indices[0].symmetric_difference(indices[1]), "session"].nunique())


def _choice_aspects(study: Experiment, options: Options) -> Iterator[Aspect]:
    """Choices of the analysis, none of which a version states."""
    for name, label, done in _choices(study, options):
        yield Aspect(f"analysis.{name}", label, NOT_STATED_TEXT, done, NOT_STATED)


def _choices(study: Experiment, options: Options) -> Iterator[tuple[str, str, str]]:
    yield "rule", "Inclusion rule", options.rule or "no paradigm is left out"
    yield "ties", "Ties", f"{options.ties}: {TIES[options.ties]}"
    yield "n_min", "Fewest judgments of an item", str(options.n_min)
    is_rating = study.task in RATING_TASKS
    z = "z within participants over targets and fillers (ddof 1)"
    yield "transform", "Transformation", z if is_rating else "none: shares of answers"
    yield "intervals", "Confidence intervals", "95 %, by the method for the number of participants"
    if isinstance(options, ReportOptions):
        yield from _report_choices(options)
    if options.round_number is not None:
        yield "round", "Rounds analysed", f"round {options.round_number} only"
    n_looks = Look.objects.filter(experiment=study).values("n_judgments").order_by().distinct().count()
    yield (
        "looks",
        "Looks at results during collection",
        plural(n_looks, "look") if n_looks else "none recorded",
    )


def _report_choices(options: ReportOptions) -> Iterator[tuple[str, str, str]]:
    yield "tests", "Tests", "the five analyses of each contrast, mixed models with slopes where data allow"
    yield "correction", "Correction for several tests", CORRECTION_NAMES[options.correction]
    sesoi = "no test of equivalence" if options.sesoi is None else f"{options.sesoi:g}"
    yield "sesoi", "Smallest effect of interest", sesoi
    yield "outliers", "Outliers of response times", options.outliers or "none left out"
    yield "multiverse", "Multiverse", "reported" if options.multiverse else "not reported"


def deviations_stamp(study: Experiment) -> str:
    """Hash of what the list depends on beside the judgments: versions, history, reasons, looks."""
    is_read = Q(details__has_key="changes") | Q(action__in=[CHOSEN, QUOTAS_CHANGED, CURRENT_CHANGED])
    newest = (
        rows.order_by("-pk").values_list("pk", flat=True).first()
        for rows in (
            DeviationReason.objects.filter(experiment=study),
            Look.objects.filter(experiment=study),
            study.audit.filter(is_read),
            study.versions.filter(is_preview=False),
        )
    )
    return hashlib.sha256(json.dumps([study.status, *newest]).encode()).hexdigest()
