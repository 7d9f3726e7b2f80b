"""The page *Reproduce*: the four papers, their documents, and a button that makes them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from analysis.errors import BadInput
from experiments.models import Job
from releases.papers.reproduce import HTML, PAPERS
from releases.papers.request import ARCHIVE, REPRODUCE, archive, latest, request_reproduction, stored_file
from releases.views.base import explained_on_top
from releases.views.study_reports import document_answer


@login_required
def papers(request: HttpRequest) -> HttpResponse:
    """List the papers with the last document of each; a button makes the next one."""
    if request.method == "POST":
        try:
            request_reproduction(request.POST.get("paper", ""), user=request.user)
        except BadInput as error:
            explained_on_top(request, error)
        else:
            messages.success(request, "The document is being made.")
            return redirect("papers")
    rows = [{"name": name, "title": title, "job": latest(name)} for name, title in PAPERS.items()]
    context = {"papers": rows, "document": HTML, "archive": ARCHIVE}
    return render(request, "releases/papers.html", context, status=400 if request.method == "POST" else 200)


@login_required
def file(request: HttpRequest, number: int, name: str) -> HttpResponseBase:
    """Return one file of a document, or all of them as a ZIP."""
    job = get_object_or_404(Job, pk=number, kind=REPRODUCE, state=Job.State.DONE)
    paper = job.arguments["paper"]
    if name == ARCHIVE:
        response = StreamingHttpResponse(archive(job), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="reproduction-{paper}.zip"'
        return response
    if name not in {listed["path"] for listed in job.result["files"]}:
        raise Http404("no such file")
    return document_answer(stored_file(job, name), name, filename=f"{paper}-{name}")
