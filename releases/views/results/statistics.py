"""Statistics of plugins, each a table."""

from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse

from analysis.plugins.statistics import STATISTICS, Statistic
from experiments.models import Experiment
from judgments.frames.data_source import file_stem
from releases.gold.plans import find_plan
from releases.reports.forms import ExcludeForm
from releases.views.base import explicit_query, json_attachment, page, study_page, valid_or_default
from releases.views.results.computed_reports import page_outcome, report_outcome


@study_page
def statistics(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list of statistics."""
    return page(request, study, "statistics", statistics=list(STATISTICS.values()))


@study_page
def statistic(request: HttpRequest, study: Experiment, *, name: str) -> HttpResponseBase:
    """One statistic, or the job that computes it."""
    plugin_statistic = _find(name)
    form = ExcludeForm(request.GET or None, experiment=study)
    is_valid = valid_or_default(form)
    outcome = page_outcome(request, study, "statistic", _choices(plugin_statistic, form.exclude()))
    return page(
        request,
        study,
        "statistics",
        form=form,
        plan=find_plan(study, form.exclude()),
        query=explicit_query(request, study),
        statistic=plugin_statistic,
        status=200 if is_valid and "refused" not in outcome else 400,
        **outcome,
    )


@study_page
def as_json(request: HttpRequest, study: Experiment, *, name: str) -> HttpResponseBase:
    """The statistic as the command prints it; 202 with the job's state until it is computed."""
    plugin_statistic = _find(name)
    form = ExcludeForm(request.GET or None, experiment=study)
    valid_or_default(form)
    outcome = report_outcome(request, study, "statistic", _choices(plugin_statistic, form.exclude()))
    if "refused" in outcome:
        raise Http404(outcome["refused"])
    if "job" in outcome:
        job = outcome["job"]
        return JsonResponse({"job": job.pk, "state": job.state, "error": job.error}, status=202)
    return json_attachment(outcome["report"], f"{file_stem(study)}-{name}.json")


def _find(name: str) -> Statistic:
    if name not in STATISTICS:
        raise Http404("no such statistic")
    return STATISTICS[name]


def _choices(statistic: Statistic, exclude: str) -> dict[str, str]:
    """The choices of the report; another version of the package recomputes it."""
    version = f"{statistic.package} {statistic.version}"
    return {"exclude": exclude, "statistic": statistic.name, "package": version}
