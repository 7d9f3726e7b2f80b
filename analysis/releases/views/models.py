"""Models: scoring runs of the study's sentences, and models beside people on a release."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.releases.chance_row import lowest_and_highest
from analysis.releases.comparing import Options, comparisons_of, model_names, request_comparison
from analysis.releases.comparison_intervals import drawn_people, interval_rows
from analysis.releases.model_forms import ComparisonForm, ScoreSetsForm, ScoringForm
from analysis.releases.models import Comparison, ScoringRun
from analysis.releases.run_records import run_records
from analysis.releases.scoring import request_score_sets, request_scoring
from analysis.releases.training import training_of
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.depth import tabs
from analysis.releases.views.figures import comparison_figures
from analysis.releases.views.leaderboard import newest_release
from analysis.releases.views.pages import explained, page, study_page
from experiments.models import Experiment


@study_page
def models(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Runs, comparisons, and the newest comparison in full."""
    return models_page(request, study)


@study_page
@require_POST
def score(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Take a file of scores or a model, and queue the run."""
    form = ScoringForm(request.POST, request.FILES)
    if form.is_valid():
        data = form.cleaned_data
        try:
            run = request_scoring(
                study,
                data["file"],
                name=data["name"],
                method=data["method"],
                column=data["column"],
                training=form.training(),
                user=request.user,
            )
        except BadInput as error:
            explained(request, form, error)
        else:
            messages.success(request, f"{run.name} is being scored.")
            return redirect("study-models", study.slug)
    return models_page(request, study, scoring_form=form, status=400)


@study_page
@require_POST
def score_sets(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Take a table of several models and what is known of them, and queue a run for each."""
    form = ScoreSetsForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            runs = request_score_sets(
                study, form.cleaned_data["file"], models=form.cleaned_data["models"], user=request.user
            )
        except BadInput as error:
            explained(request, form, error)
        else:
            messages.success(request, f"{len(runs)} models are being scored.")
            return redirect("study-models", study.slug)
    return models_page(request, study, sets_form=form, status=400)


@study_page
@require_POST
def compare(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Queue a comparison of the ticked models."""
    form = ComparisonForm(request.POST, experiment=study, runs=done_runs(study))
    if form.is_valid():
        data = form.cleaned_data
        try:
            options = Options(data["deltas"], data["signs"], data["already_standardized"])
            made = request_comparison(data["release"], data["runs"], options=options, user=request.user)
        except BadInput as error:
            explained(request, form, error)
        else:
            return redirect("study-comparison", study.slug, made.pk)
    return models_page(request, study, comparison_form=form, status=400)


@study_page
def comparison(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """One comparison: the table, the figures, and where models and people part."""
    found = get_object_or_404(comparisons_of(study), pk=pk)
    return page(request, study, "models", template="comparison", comparison=found, **shown(study, found))


@study_page
def comparison_json(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """The comparison's document as the command prints it, with its choices."""
    found = get_object_or_404(comparisons_of(study).exclude(report={}), pk=pk)
    return json_attachment(found.report, f"{study.slug}-comparison-{pk}.json")


def models_page(
    request: HttpRequest, study: Experiment, *, status: int = 200, **forms: Any
) -> HttpResponseBase:
    """The page with whatever form went wrong."""
    runs = done_runs(study)
    has_release = study.releases.filter(state="ready").exists()
    newest = comparisons_of(study).exclude(report={}).first()
    initial = {"runs": list(runs.values_list("pk", flat=True))}
    context = {
        "runs": labelled(runs_of(study)),
        "comparisons": with_labels(comparisons_of(study)),
        "comparison": newest,
        "can_compare": has_release and runs.exists(),
        "has_release": has_release,
        "scoring_form": ScoringForm(),
        "sets_form": ScoreSetsForm(),
        "board_release": newest_release(study),
        "comparison_form": ComparisonForm(experiment=study, runs=runs, initial=initial),
        **(shown(study, newest) if newest else {}),
        **forms,
    }
    return page(request, study, "models", status=status, **context)


def runs_of(study: Experiment) -> QuerySet[ScoringRun]:
    """Runs over the study's materials, newest first."""
    return ScoringRun.objects.filter(material_set=study.materials_id).select_related("job", "created_by")


def labelled(runs: Iterable[ScoringRun]) -> list[ScoringRun]:
    """Runs under names of which no two are the same."""
    rows = list(runs)
    for run, label in zip(rows, model_names(rows), strict=True):
        run.label = label
        run.training = training_of(run)
    return rows


def with_labels(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Comparisons with the names of their models as their tables have them."""
    rows = list(comparisons)
    for one in rows:
        one.labels = model_names(sorted(one.runs.all(), key=lambda run: run.pk))
    return rows


def done_runs(study: Experiment) -> QuerySet[ScoringRun]:
    """Runs that have scores."""
    return runs_of(study).filter(state=ScoringRun.State.DONE).order_by("name", "pk")


def shown(study: Experiment, found: Comparison) -> dict[str, Any]:
    """The comparison's table as rows of cells, people first, baselines last."""
    report = found.report
    if not report:
        return {"report": None}
    keys = [format(delta, "g") for delta in found.options["deltas"]]
    runs = list(found.runs.order_by("pk"))
    methods = dict(zip((row["model"] for row in report["models"]), runs, strict=False))
    ceiling, constant = report["baselines"]["human_ceiling"], report["baselines"]["constant"]
    again = report["baselines"].get("constant_recalibrated", {}).get("adc", {})  # older comparisons lack it
    rows = [
        {
            "name": row["model"],
            "method": methods[row["model"]].method if row["model"] in methods else "",
            "pairs": row["pairs"],
            "left_out": row["left_out"],
            "blimp": row["blimp"],
            "adc": [row["adc"].get(key) for key in keys],
            "r": row["pearson_r"],
            "r_freed": row.get("pearson_r_disattenuated"),
            "rho": row["spearman_r"],
            "skill": row["skill"].get(keys[0]),
            "below": _below(row["adc"].get(keys[0]), constant["adc"].get(keys[0])),
        }
        for row in report["models"]
    ]
    return {
        "report": report,
        "tabs": tabs(""),
        "reach": (ceiling or {}).get("correlation") or {},
        "constant_again": [again.get(key) for key in keys],
        "figures": comparison_figures(study, found),
        "keys": keys,
        "rows": rows,
        "chance": [
            lowest_and_highest([row["chance_blimp"] for row in report["models"]]),
            *(lowest_and_highest([row["chance"].get(key) for row in report["models"]]) for key in keys),
        ],
        "ceiling": [ceiling["adc"].get(key) for key in keys] if ceiling else None,
        "constant": [constant["adc"].get(key) for key in keys],
        "interval_rows": interval_rows(report, keys),
        "lines": [
            {
                "name": row["model"],
                "slope": row["slope"],
                "intercept": row["intercept"],
                "gap": row["mean_abs_difference"],
                "recalibrated": [row["adc_recalibrated"].get(key) for key in keys],
            }
            for row in report["models"]
        ],
        "drawn_people": drawn_people(report),
        "scoring": report.get("scoring") or run_records(runs, model_names(runs)),
        "beaten": [row["name"] for row in rows if row["below"]],
        "parting": [
            {"model": name, "pairs": pairs[:10]} for name, pairs in report.get("parting", {}).items()
        ],
    }


def _below(model: float | None, constant: float | None) -> bool:
    return model is not None and constant is not None and model < constant
