"""The preregistration ZIP of a frozen version, for every member."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from analysis.releases.preregistration import folder_of, preregistration
from analysis.releases.views.pages import study_page
from experiments.models import Experiment


@study_page
def download(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """Texts, lists, seeds, exclusion plans and checksums of one version."""
    version = study.versions.filter(number=number, is_preview=False).select_related("experiment").first()
    if version is None:
        raise Http404("no such version")
    response = HttpResponse(preregistration(version), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{folder_of(version)}.zip"'
    return response
