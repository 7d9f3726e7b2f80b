"""Pages of a link for reviewers: design, totals of results, releases; no participants, ids or money.

These pages call nothing that lists participants, and serve only the files named here.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analysis.errors import BadInput
from experiments.models import Design, Experiment, MinimalPair, ReviewLink, Sentence
from experiments.pages.forms import paginate
from experiments.tasks.registry import shown_task
from experiments.teams.review_links import count_use, find_link
from releases.gold.describe import CONTENTS
from releases.gold.plans import current_plan
from releases.models import Release
from releases.reports.forms import AgreementForm, RatingsForm
from releases.reports.report_cache import cached_report
from releases.study_report.build import HTML, PDF
from releases.study_report.request import find_report, list_reports
from releases.views import releases as release_pages
from releases.views import study_reports
from releases.views.base import valid_or_default

PER_PAGE = 100
#: Files of a release without rows of participants and without sentences; plans in manifests may name them.
PLAIN_FILES = {"README.md", "human.csv", "pairs.csv", "methods.md", "datapackage.json"}
#: Files that quote the materials.
MATERIAL_FILES = {"pairs.jsonl", "sentences.csv"}
REPORT_FILES = {HTML, PDF}
HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}
View = Callable[..., HttpResponseBase]


def shared_page(view: View) -> View:
    """Pass the link of the token; every answer is kept out of search engines and referrers."""

    @require_safe
    @wraps(view)
    def view_with_link(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponseBase:
        link = find_link(token)
        try:
            if link is None:
                raise Http404("no such link")
            response = view(request, link, token=token, **kwargs)
        except Http404:
            response = render(request, "releases/shared/invalid.html", {"is_valid": bool(link)}, status=404)
        for name, value in HEADERS.items():
            response[name] = value
        return response

    return view_with_link


@shared_page
def overview(request: HttpRequest, link: ReviewLink, *, token: str) -> HttpResponse:
    """Design, texts, results as totals, releases and reports."""
    count_use(link)
    study = link.experiment
    context = {
        "link": link,
        "token": token,
        "shared": study,
        "task": shown_task(study.task),
        "design": Design.objects.filter(experiment=study).first(),
        "versions": study.versions.filter(is_preview=False).order_by("number"),
        "texts": [
            ("Consent", study.consent),
            ("Instructions", study.instructions),
            ("Debrief", study.debrief),
        ],
        "questions": [
            str(question.get("label") or question.get("name") or "")
            for question in study.questionnaire
            if isinstance(question, dict)
        ],
        "plan": current_plan(study),
        "agreement": _report(study, "agreement", AgreementForm),
        "conditions": _report(study, "conditions", RatingsForm),
        "releases": [(row, _files(row, link)) for row in _releases(study)],
        "reports": [row for row in list_reports(study) if row.is_ready] if link.with_materials else [],
        "report_files": sorted(REPORT_FILES),
    }
    return render(request, "releases/shared/overview.html", context)


def _report(study: Experiment, name: str, form_class: type[AgreementForm] | type[RatingsForm]) -> Any:
    """A report under the current plan and defaults; None where the task or the data give none."""
    form = form_class(None, experiment=study)
    valid_or_default(form)
    try:
        return cached_report(study, name, **form.choices())
    except BadInput:
        return None


def _releases(study: Experiment) -> list[Release]:
    return list(Release.objects.filter(experiment=study, state=Release.State.READY).order_by("-number"))


def _files(release: Release, link: ReviewLink) -> list[dict[str, Any]]:
    """The files of a release that the link opens."""
    allowed = PLAIN_FILES | (MATERIAL_FILES if link.with_materials else set())
    return [
        {**file, "holds": CONTENTS.get(file["path"], "")}
        for file in release.manifest.get("files", [])
        if file["path"] in allowed
    ]


@shared_page
def materials(request: HttpRequest, link: ReviewLink, *, token: str) -> HttpResponse:
    """The sentences or pairs, where the link shows them."""
    material_set = link.experiment.materials
    if not link.with_materials or material_set is None:
        raise Http404("this link shows no materials")
    pairs = material_set.pairs.select_related("good", "bad", "paradigm")
    as_pairs = pairs.exists()
    rows: Page[MinimalPair] | Page[Sentence] = (
        paginate(request, pairs, most=PER_PAGE)
        if as_pairs
        else paginate(request, material_set.sentences.select_related("item"), most=PER_PAGE)
    )
    context = {
        "token": token,
        "shared": link.experiment,
        "set": material_set,
        "as_pairs": as_pairs,
        "page_of": rows,
    }
    return render(request, "releases/shared/materials.html", context)


@shared_page
def release_file(
    request: HttpRequest, link: ReviewLink, *, token: str, number: int, name: str
) -> HttpResponseBase:
    """One file of a release without participants."""
    release = release_pages.find(link.experiment, number, ready=True)
    if name not in {str(file["path"]) for file in _files(release, link)}:
        raise Http404("this link does not open that file")
    return release_pages.file_answer(release, name)


@shared_page
def report_file(
    request: HttpRequest, link: ReviewLink, *, token: str, number: int, name: str
) -> HttpResponseBase:
    """A report as a page or on paper, where the link shows the materials that it quotes."""
    if not link.with_materials or name not in REPORT_FILES:
        raise Http404("this link does not open that file")
    return study_reports.file_answer(link.experiment, find_report(link.experiment, number), name)
