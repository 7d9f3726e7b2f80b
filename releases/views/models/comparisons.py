"""Pages of scored models and of comparisons with humans on a release."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.comparison.text_tables import context_text
from analysis.errors import BadInput
from analysis.report.page_findings import comparison_finding
from analysis.text import plural
from config.http.body_limit import takes_large_files
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest, may_edit
from releases.comparison.compare import (
    Options,
    interval_rows,
    list_comparisons,
    lowest_and_highest,
    n_resampled_participants,
    request_comparison,
)
from releases.comparison.compare import Options as ComparisonOptions
from releases.comparison.leaderboard import done_runs
from releases.comparison.prompts import prompted_models
from releases.comparison.tables import CAPTIONS, TABLES, comparison_latex, comparison_table
from releases.models import Comparison, Release, ScoringRun, model_names
from releases.scoring.forms import ScoreSetsForm, ScoringForm
from releases.scoring.runs import request_score_sets, request_scoring, run_records
from releases.scoring.training_metadata import read_training
from releases.views.base import (
    add_form_error,
    attachment,
    csv_attachment,
    json_attachment,
    page,
    study_page,
)
from releases.views.figures import comparison_figures
from releases.views.models.leaderboard import newest_release

PARTS = {
    "models": "Beside people",
    "scored": "Scored models",
    "prompts": "Prompts",
    "add": "Add scores",
    "compare": "New comparison",
}
ADDRESSES = {
    "models": "study-models",
    "scored": "study-scored-models",
    "prompts": "study-prompts",
    "add": "study-add-models",
    "compare": "study-compare",
}
READ_ONLY = {"models", "scored", "prompts"}  # the parts without a form
SECTIONS = {
    "intervals": "Intervals",
    "pairs": "Pairs",
    "correlations": "Correlations",
    "curves": "ADC curves",
    "tests": "Two models",
    "linking": "Linking functions",
    "surprisal": "Ratings by surprisal",
    "abilities": "Abilities (Rasch)",
    "predictors": "Shallow predictors",
    "prefixes": "Prefix methods",
    "learning": "Learning curves",
    "filtered": "Filtered training",
    "decisions": "Decisions",
}


class ComparisonForm(forms.Form):
    """Options of a comparison of models with humans on one release."""

    release = forms.ModelChoiceField(Release.objects.none(), empty_label=None)
    runs = forms.ModelMultipleChoiceField(
        ScoringRun.objects.none(), widget=forms.CheckboxSelectMultiple, label="Models"
    )
    deltas = forms.CharField(
        initial="0.5 1 5", label="δ", help_text="Distances of the ADC, separated by spaces."
    )
    signs = forms.ChoiceField(
        choices=[
            ("strict", "strict: zero differences fail"),
            ("published", "as published: zero equals zero"),
        ],
        initial="strict",
    )
    already_standardized = forms.BooleanField(required=False, label="The scores are standardized already")

    def __init__(self, *args: Any, experiment: Experiment, runs: QuerySet[ScoringRun], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = Release.objects.filter(experiment=experiment, state=Release.State.READY)
        releases, models = self.fields["release"], self.fields["runs"]
        assert isinstance(releases, forms.ModelChoiceField) and isinstance(models, forms.ModelChoiceField)
        releases.queryset, models.queryset = ready.order_by("-number"), runs
        releases.label_from_instance = lambda obj: f"release {obj.number}"  # type: ignore[method-assign]

    def clean_deltas(self) -> list[float]:
        """Parse numbers separated by spaces or commas."""
        try:
            deltas = [float(word) for word in self.cleaned_data["deltas"].replace(",", " ").split()]
            ComparisonOptions(deltas=deltas)  # validates them
            return deltas
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        except ValueError as error:
            raise forms.ValidationError("Write numbers, for example 0.5 1 5.") from error


@study_page
def models(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Show the newest comparison with humans, and all comparisons."""
    newest = list_comparisons(study).exclude(report={}).first()
    return _part(
        request,
        study,
        "models",
        comparisons=with_labels(list_comparisons(study)),
        comparison=newest,
        n_runs=list_runs(study).count(),
        board_release=newest_release(study),
        **(comparison_context(study, newest) if newest else {}),
    )


@study_page
def scoring_runs_page(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Show the scored models with their sources and states."""
    return _part(request, study, "scored", runs=label_runs(list_runs(study)))


@study_page
def prompts(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Show how far answers to prompts agree with probabilities, for each model with both."""
    return _part(request, study, "prompts", prompted=prompted_models(study))


@study_page
def add(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Show the forms for uploaded scores and models."""
    return _add_page(request, study)


@takes_large_files
@study_page
@require_POST
def score(request: AuthenticatedRequest, study: Experiment) -> HttpResponseBase:
    """Store an uploaded file of scores or model, and enqueue the run."""
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
                sign=data["sign"],
                training=form.training(),
                user=request.user,
            )
        except BadInput as error:
            add_form_error(request, form, error)
        else:
            messages.success(request, f"Scoring of {run.name} has started.")
            return redirect("study-scored-models", study.slug)
    return _add_page(request, study, scoring_form=form, status=400)


@takes_large_files
@study_page
@require_POST
def score_sets(request: AuthenticatedRequest, study: Experiment) -> HttpResponseBase:
    """Store a table of several models with their metadata, and enqueue a run for each."""
    form = ScoreSetsForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            runs = request_score_sets(
                study,
                form.cleaned_data["file"],
                models=form.cleaned_data["models"],
                sign=form.cleaned_data["sign"],
                user=request.user,
            )
        except BadInput as error:
            add_form_error(request, form, error)
        else:
            messages.success(request, f"Scoring of {plural(len(runs), 'model')} has started.")
            return redirect("study-scored-models", study.slug)
    return _add_page(request, study, sets_form=form, status=400)


@study_page
def compare(request: AuthenticatedRequest, study: Experiment) -> HttpResponseBase:
    """Show the form of a comparison, and enqueue a comparison of the selected models."""
    runs = done_runs(study)
    if request.method != "POST":
        initial = {"runs": list(runs.values_list("pk", flat=True))}
        return _compare_page(request, study, ComparisonForm(experiment=study, runs=runs, initial=initial))
    form = ComparisonForm(request.POST, experiment=study, runs=runs)
    if form.is_valid():
        data = form.cleaned_data
        try:
            options = Options(data["deltas"], data["signs"], data["already_standardized"])
            comparison = request_comparison(data["release"], data["runs"], options=options, user=request.user)
        except BadInput as error:
            add_form_error(request, form, error)
        else:
            return redirect("study-comparison", study.slug, comparison.pk)
    return _compare_page(request, study, form, status=400)


@study_page
def comparison(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Show one comparison: table, figures and the largest differences."""
    stored = get_object_or_404(list_comparisons(study), pk=pk)
    context = comparison_context(study, stored)
    return page(request, study, "models", template="comparison", comparison=stored, **context)


@study_page
def comparison_json(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Return the document of a comparison as the command prints it."""
    stored = get_object_or_404(list_comparisons(study).exclude(report={}), pk=pk)
    return json_attachment(stored.report, f"{study.slug}-comparison-{pk}.json")


@study_page
def comparison_table_file(
    request: HttpRequest, study: Experiment, *, pk: int, name: str, form: str
) -> HttpResponseBase:
    """Return a table of a comparison as CSV or LaTeX."""
    stored = get_object_or_404(list_comparisons(study).exclude(report={}), pk=pk)
    if name not in TABLES or form not in ("csv", "tex") or (form == "tex" and name not in CAPTIONS):
        raise Http404("no such table")
    filename = f"{study.slug}-comparison-{pk}-{name}.{form}"
    try:
        if form == "tex":
            text = comparison_latex(stored, name)
            return attachment(text.encode(), "application/x-tex; charset=utf-8", filename)
        table = comparison_table(stored, name)
    except BadInput as error:
        raise Http404(str(error)) from error
    rows = [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
    return csv_attachment(rows, [str(column) for column in table.columns], filename)


def _part(
    request: HttpRequest, study: Experiment, name: str, *, status: int = 200, **context: Any
) -> HttpResponseBase:
    """Render one of the pages of models under their tabs."""
    titles = {key: title for key, title in PARTS.items() if may_edit(request.user, study) or key in READ_ONLY}
    parts = [
        {"address": reverse(ADDRESSES[key], args=[study.slug]), "title": title, "is_here": key == name}
        for key, title in titles.items()
    ]
    template = "models" if name == "models" else f"{name}_models"
    return page(request, study, "models", template=template, status=status, parts=parts, **context)


def _add_page(
    request: HttpRequest, study: Experiment, *, status: int = 200, **forms: ScoringForm | ScoreSetsForm
) -> HttpResponseBase:
    empty_forms = {"scoring_form": ScoringForm(), "sets_form": ScoreSetsForm()}
    return _part(request, study, "add", status=status, **{**empty_forms, **forms})


def _compare_page(
    request: HttpRequest, study: Experiment, form: ComparisonForm, *, status: int = 200
) -> HttpResponseBase:
    has_release = study.releases.filter(state="ready").exists()
    return _part(
        request,
        study,
        "compare",
        status=status,
        form=form,
        has_release=has_release,
        can_compare=has_release and done_runs(study).exists(),
    )


def list_runs(study: Experiment) -> QuerySet[ScoringRun]:
    """Return the study's runs, newest first."""
    return ScoringRun.objects.of_study(study).select_related("job", "created_by")


def label_runs(runs: Iterable[ScoringRun]) -> list[ScoringRun]:
    """Return runs with unique labels and their training metadata."""
    rows = list(runs)
    for run, label in zip(rows, model_names(rows), strict=True):
        run.label = label  # type: ignore[attr-defined]  # read by the template
        run.training = read_training(run)  # type: ignore[attr-defined]
    return rows


def with_labels(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return comparisons with the names of their models."""
    rows = list(comparisons)
    for row in rows:
        names = model_names(sorted(row.runs.all(), key=lambda run: run.pk))
        row.labels = names  # type: ignore[attr-defined]  # read by the template
    return rows


def _context_note(report: dict[str, Any]) -> str:
    """Which models read contexts and whether participants saw them; older comparisons do not record it."""
    contexts = report.get("contexts")
    if not contexts:
        return ""
    return context_text(contexts["read_by"], contexts["not_read_by"], shown=contexts["shown"])


def comparison_context(study: Experiment, comparison: Comparison) -> dict[str, Any]:
    """Return the template context of a comparison."""
    report = comparison.report
    if not report:
        return {"report": None}
    keys = [format(delta, "g") for delta in comparison.options["deltas"]]
    runs = list(comparison.runs.order_by("pk"))
    methods = dict(zip((row["model"] for row in report["models"]), runs, strict=False))
    ceiling, constant = report["baselines"]["human_ceiling"], report["baselines"]["constant"]
    recalibrated = (
        report["baselines"].get("constant_recalibrated", {}).get("adc", {})
    )  # older comparisons lack it
    rows = [
        {
            "name": row["model"],
            "method": methods[row["model"]].method if row["model"] in methods else "",
            "pairs": row["pairs"],
            "left_out": row["left_out"],
            "blimp": row["blimp"],
            "adc": [row["adc"].get(key) for key in keys],
            "r": row["pearson_r"],
            "r_disattenuated": row.get("pearson_r_disattenuated"),
            "rho": row["spearman_r"],
            "skill": row["skill"].get(keys[0]),
            "below": _below(row["adc"].get(keys[0]), constant["adc"].get(keys[0])),
        }
        for row in report["models"]
    ]
    figures = comparison_figures(study, comparison)
    return {
        "report": report,
        "tabs": tabs(""),
        "finding": comparison_finding(report),
        "in_context": [
            name
            for name, run in methods.items()
            if run.spec.get("in_context") and name not in (report.get("contexts") or {}).get("read_by", ())
        ],
        "contexts": _context_note(report),
        "media": report.get("media"),  # absent in older comparisons
        "noise_ceiling": (ceiling or {}).get("correlation") or {},
        "constant_recalibrated": [recalibrated.get(key) for key in keys],
        "figures": figures,
        "delta_figures": [figure for figure in figures if "/deltas-" in figure.url],
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
        "n_resampled_participants": n_resampled_participants(report),
        "scoring": report.get("scoring") or run_records(runs, model_names(runs)),
        "below_constant": [row["name"] for row in rows if row["below"]],
        "largest_differences": [
            {"model": name, "pairs": pairs[:10]} for name, pairs in report.get("parting", {}).items()
        ],
    }


def tabs(current: str) -> list[dict[str, Any]]:
    """Return the sections of a comparison; the empty name is its overview."""
    titles = [("", "Overview"), *SECTIONS.items()]
    return [{"name": name, "title": title, "is_here": name == current} for name, title in titles]


def _below(model: float | None, constant: float | None) -> bool:
    return model is not None and constant is not None and model < constant
