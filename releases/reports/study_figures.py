"""Figures of a study: their data, and their files, cached by data, plan, choices and appearance."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
from django.urls import reverse
from django.utils.timezone import get_current_timezone_name

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.errors import BadInput, NotEnoughData
from experiments.models import Experiment, Job
from judgments.frames.build import session_frame
from releases.comparison.compare import comparison_frames, list_comparisons
from releases.gold.plans import find_plan
from releases.gold.storage import release_table
from releases.gold.study_facts import stages
from releases.material_frames import member_texts, score_frame, sentence_frame, texts
from releases.models import Comparison, Release
from releases.reports.forms import EffectsForm, GroupsForm, MultiverseForm, SequentialForm
from releases.reports.judgment_cache import data_version, study_judgments
from releases.reports.power_forms import costs_by_size, plan_form, prospective_power
from releases.reports.progress import recent_progress
from releases.reports.report_cache import (
    Report,
    ReportKey,
    cached_items,
    cached_report,
    cached_result,
    compute_and_store,
    is_cached,
    report_or_job,
)
from releases.scoring import stored_scores

Chart = Any  # an Altair chart
Addresses = Any  # analysis.figures.Addresses, which loads Altair
Choices = dict[str, Any]
OF_SESSIONS = {"arrivals", "completion-times"}  # drawn without the judgments, as a running study gets more
REPORTED = {  # drawn from a stored report, which a job may compute
    "five-analyses": "effects",
    "effect-sizes": "effects",
    "specification-curve": "multiverse",
    "group-effects": "groups",
    "item-functioning": "groups",
    "sequential-bayes-factors": "sequential",
}
DEFAULTS = {
    "effects": EffectsForm.defaults,
    "multiverse": MultiverseForm.defaults,
    "groups": GroupsForm.defaults,
    "sequential": SequentialForm.defaults,
}
BEING_COMPUTED = "The {} are being computed. Reload this page when they are done."
SUBJECTS = {
    "effects": "effects",
    "multiverse": "specifications",
    "groups": "groups",
    "sequential": "Bayes factors",
}


def study_evidence(
    study: Experiment,
    *,
    exclude: str = "",
    drawing: "analysis.figures.Drawing | None" = None,
    round_number: int | None = None,
) -> "analysis.figures.Evidence":
    """The data of all figures of the study, or of one of them."""
    plan = find_plan(study, exclude)
    if drawing is not None and drawing.about == "models":
        return comparison_evidence(newest_comparison(study))
    if drawing is not None and drawing.name in OF_SESSIONS:
        zone = get_current_timezone_name()
        return analysis.figures.Evidence(plan=plan, sessions=session_frame(study), time_zone=zone)
    data_version(study)  # after which the judgments are stored in memory for the next figure
    judgments = study_judgments(study, plan, round_number=round_number)
    imported = study.origin == Experiment.Origin.IMPORTED  # arrivals and consents are unknown
    is_flow = drawing is None or drawing.name == "flow"  # the counts visit every judgment
    stage_counts = stages(study, round_number) if is_flow and not imported else None
    materials = study.materials
    has_factors = materials is not None and bool(materials.factors)
    evidence = analysis.figures.Evidence(
        judgments=judgments,
        plan=plan,
        stages=stage_counts,
        factors=materials.levels if materials else None,
        stimuli=sentence_frame(materials) if has_factors else None,
        model_scores=score_frame(study) if has_factors else None,
    )
    if not imported:
        evidence = replace(evidence, sessions=session_frame(study))
    if drawing is not None:
        is_rated = drawing.name == "sentences"
        return replace(evidence, sentences=texts(study)) if is_rated else evidence
    compared = comparison_evidence(newest_comparison(study))
    models = {name: getattr(compared, name) for name in ("human", "pairs", "scores", "report", "sentences")}
    return replace(evidence, **models)


def newest_comparison(study: Experiment) -> Comparison | None:
    """The newest finished comparison."""
    return list_comparisons(study).exclude(report={}).order_by("-pk").first()


def comparison_evidence(comparison: Comparison | None) -> "analysis.figures.Evidence":
    """The data of a comparison's figures: a frozen release and stored scores."""
    if comparison is None:
        return analysis.figures.Evidence()
    human, pairs, scores = comparison_frames(comparison)
    release = comparison.release
    options = comparison.options
    return analysis.figures.Evidence(
        human=human,
        pairs=pairs,
        scores=scores,
        report=comparison.report,
        number=comparison.pk,
        sentences=sentence_texts(release),
        already_standardized=options["already_standardized"],
        signs=options["signs"],
        deltas=tuple(float(delta) for delta in options["deltas"]),
        seed=int(options.get("seed", 0)),
        basis=f"Release {release.number}; its plan: {release.options.get('exclude') or 'none'}.",
    )


def sentence_texts(release: Release) -> dict[str, str]:
    """The sentences of a frozen release by id."""
    text = release_table(release, "sentences.csv").set_index("sentence_id")["sentence"]
    return {str(key): str(value) for key, value in text.items()}


def study_file(
    study: Experiment,
    name: str,
    form: str,
    *,
    choices: Choices | None = None,
    may_wait: bool = False,
    has_links: bool = False,
    **appearance: Any,
) -> bytes:
    """A figure of the study as a file, cached for the same data, plan, choices and appearance.

    If the figure does not apply, the file contains the reason; so it does while a job computes its report,
    unless the caller ``may_wait`` for the computation. ``has_links``: points lead to judgments on this site.
    """
    choices = choices or {"exclude": ""}
    report: Report | None = None
    if name in REPORTED:
        try:
            outcome = _report(study, REPORTED[name], choices, may_wait=may_wait)
        except BadInput as error:
            return _statement(name, f"Nothing to draw: {error.message}", form, appearance)
        if isinstance(outcome, Job):
            return _statement(name, BEING_COMPUTED.format(SUBJECTS[REPORTED[name]]), form, appearance)
        report = outcome
    compared = newest_comparison(study) if analysis.figures.FIGURES[name].about == "models" else None
    key = {**choices, "form": form, "of": compared.pk if compared else 0, "links": has_links, **appearance}
    if name in OF_SESSIONS:
        key["time_zone"] = get_current_timezone_name()
    if name == "interaction":  # models beside humans
        key["models"] = stored_scores.names(study)
    addresses = build_addresses(study) if has_links else analysis.figures.Addresses()

    def make() -> bytes:
        chart = _chart(study, name, choices, report=report, addresses=addresses)
        file: bytes = analysis.figures.export_figure(chart, form, **appearance)
        return file

    content: bytes = cached_result(study, f"figure-{name}", key, make)
    return content


def build_addresses(study: Experiment) -> Addresses:
    """Links of points: the judgments of an item or a participant, a comparison of models."""
    judgments = reverse("study-judgments", args=[study.slug])
    first_comparison = reverse("study-comparison", args=[study.slug, 1])
    return analysis.figures.Addresses(
        item=f"{judgments}?item=",
        participant=f"{judgments}?participant=",
        comparison=first_comparison.removesuffix("1/"),
    )


def _report(study: Experiment, name: str, choices: Choices, *, may_wait: bool) -> Report | Job:
    every = {"exclude": "", **DEFAULTS[name], **choices}
    if may_wait:
        return compute_and_store(study, name, every, ReportKey.of(study, name, every).path)
    return report_or_job(study, name, every)


def _chart(
    study: Experiment, name: str, choices: Choices, *, report: Report | None, addresses: Addresses
) -> Chart:
    draw = DRAWERS.get(name)
    try:
        if draw is not None:
            return draw(study, choices, addresses)
        evidence = study_evidence(study, exclude=choices["exclude"], drawing=analysis.figures.FIGURES[name])
        outliers = str(choices.get("outliers", ""))
        evidence = replace(evidence, addresses=addresses, outliers=outliers)
        if report is not None:
            field = REPORTED[name]
            evidence = replace(evidence, by=report["by"], **{field: report})
        return analysis.figures.draw(name, evidence)
    except NotEnoughData as error:
        title = analysis.figures.FIGURES[name].title
        return analysis.figures.statement_figure(title, f"Nothing to draw: {error.message}")


def _statement(name: str, sentence: str, form: str, appearance: dict[str, Any]) -> bytes:
    chart = analysis.figures.statement_figure(analysis.figures.FIGURES[name].title, sentence)
    file: bytes = analysis.figures.export_figure(chart, form, **appearance)
    return file


def draw_agreement(study: Experiment, choices: Choices, addresses: Addresses) -> Chart:
    """Bars by paradigm."""
    figures = analysis.figures
    return figures.agreement_figure(
        figures.agreement_frame(cached_report(study, "agreement", **choices)), note=_note(study, choices)
    )


def draw_items(study: Experiment, choices: Choices, addresses: Addresses) -> Chart:
    """The most contested items."""
    table = cached_items(study, exclude=choices["exclude"], round_number=choices.get("round_number"))
    contested, note = analysis.figures.contested_items(table)
    members = member_texts(study, [str(name) for name in contested["item"]])
    return analysis.figures.item_strip(
        contested,
        note=f"{note} {_note(study, choices)}".strip(),
        members={name: " / ".join(texts) for name, texts in members.items()},
        addresses=addresses,
    )


def draw_ratings(study: Experiment, choices: Choices, addresses: Addresses) -> Chart:
    """Sentence means by condition."""
    report = cached_report(study, "ratings", **choices)
    frame = pd.DataFrame(report["items"], columns=["condition", "mean"]).astype({"mean": float})
    return analysis.figures.rating_figure(frame, scale=str(choices["transform"]), note=_note(study, choices))


PARTICIPANTS_BY_AGREEMENT: tuple[str, Choices] = ("participants-agreement", {"exclude": ""})


def participants_by_agreement(study: Experiment) -> tuple[pd.DataFrame, str]:
    """Time, agreement with the others and signals of each participant, and the name of the agreement."""

    def compute() -> tuple[pd.DataFrame, str]:
        figures = analysis.figures
        data_version(study)  # after which the judgments are stored in memory for the next figure
        evidence = figures.Evidence(judgments=study_judgments(study, find_plan(study, "")))
        if figures.FIGURES["participants-agreement"].lacking(evidence):
            return pd.DataFrame({"agreement": [], "state": []}), ""
        people: tuple[pd.DataFrame, str] = figures.agreement_and_time_frame(evidence.everyone)
        return people

    table: tuple[pd.DataFrame, str] = cached_result(study, *PARTICIPANTS_BY_AGREEMENT, compute)
    return table


def has_participants_by_agreement(study: Experiment) -> bool:
    """Whether :func:`participants_by_agreement` has been computed from today's data."""
    return is_cached(study, *PARTICIPANTS_BY_AGREEMENT)


def draw_participants(study: Experiment, choices: Choices, addresses: Addresses) -> Chart:
    """Participants by response time and agreement."""
    people, measure = participants_by_agreement(study)
    if not len(people):
        raise NotEnoughData("no participant has response times and answers that others gave too.")
    evidence = analysis.figures.Evidence(plan=find_plan(study, str(choices["exclude"])))
    return analysis.figures.agreement_and_time_figure(
        people, measure=measure, note=evidence.note_before, addresses=addresses
    )


def draw_progress(study: Experiment, choices: Choices, addresses: Addresses) -> Chart:
    """Agreement so far by paradigm, from the report of its page."""
    report, _ = recent_progress(study, **choices)
    return analysis.figures.progress_chart(report, note=_note(study, choices))


def draw_planned_power(study: Experiment, choices: Choices, addresses: Addresses) -> Chart:
    """Power and cost of the planned study by number of participants."""
    form = plan_form(choices["planned"], study)
    if form.errors:
        raise NotEnoughData("a value of the calculator is not valid.")
    report = prospective_power(form)
    smallest = report["smallest"]
    return analysis.figures.planned_power_figure(
        pd.DataFrame(report["designs"]),
        chosen=smallest["participants"] if smallest else None,
        costs=costs_by_size(report, form.cleaned_data["currency"] or "GBP"),
    )


def _note(study: Experiment, choices: Choices) -> str:
    """Plan and round for captions."""
    note = analysis.figures.Evidence(plan=find_plan(study, str(choices["exclude"]))).note
    number = choices.get("round_number")
    return note if number is None else f"{note} Round {number} only.".strip()


DRAWERS: dict[str, Callable[[Experiment, Choices, Addresses], Chart]] = {
    "agreement": draw_agreement,
    "items": draw_items,
    "ratings": draw_ratings,
    "participants-agreement": draw_participants,
    "power-planned": draw_planned_power,
    "progress": draw_progress,
}
"""Figures drawn from a cached report with the choices of its page; the others are drawn from judgments."""
