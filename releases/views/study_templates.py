"""Study templates: the file of a study, and a new study from a file after a preview."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import get_valid_filename

from analysis.errors import BadInput
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest, get_study
from releases.study_templates.create import (
    built_in_file,
    built_in_templates,
    create_from_template,
    read_template,
)
from releases.study_templates.document import MAX_BYTES, SUFFIX
from releases.study_templates.export import build_template

MEDIA_TYPE = "application/yaml; charset=utf-8"  # RFC 9512
LONGEST_NAME = 100  # of an uploaded file, in messages


class TemplateForm(forms.Form):
    """The study's title; the file itself travels with the form, so nothing is stored before the study."""

    title = forms.CharField(max_length=200)
    # Unit: characters; the size in bytes is checked where the file is parsed.
    text = forms.CharField(max_length=MAX_BYTES, required=False, strip=False, widget=forms.Textarea)
    file = forms.CharField(max_length=LONGEST_NAME, required=False)
    built_in = forms.CharField(max_length=100, required=False)


@login_required
def export(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The study's template, for every member who may read it."""
    return template_file(get_study(request.user, slug), with_materials=request.GET.get("materials") != "no")


def template_file(study: Experiment, *, with_materials: bool) -> HttpResponse:
    """The template as a download."""
    text = build_template(study, with_materials=with_materials)
    response = HttpResponse(text, content_type=MEDIA_TYPE)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}{SUFFIX}"'
    return response


@login_required
def create(request: AuthenticatedRequest) -> HttpResponse:
    """Choose a template, look at what it makes, and create the study."""
    if request.method == "POST":
        return _post(request)
    if name := request.GET.get("template", ""):
        return _preview(request, b"", file="", built_in=name)
    return _choose(request)


def _post(request: AuthenticatedRequest) -> HttpResponse:
    if upload := request.FILES.get("template"):
        name = get_valid_filename(upload.name or "template")[-LONGEST_NAME:]
        return _preview(request, upload.read(MAX_BYTES + 1), file=name)  # one byte more is refused
    form = TemplateForm(request.POST)
    if not form.is_valid():
        return _choose(request, "Choose a file, and give the study a title of at most 200 characters.")
    values = form.cleaned_data
    try:
        content = built_in_file(values["built_in"]) if values["built_in"] else values["text"]
        template = read_template(content, file=values["file"] or values["built_in"], user=request.user)
        study = create_from_template(template, request.user, title=values["title"])
    except BadInput as error:
        return _choose(request, str(error))
    messages.success(
        request, "The study is a draft of yours. Check its texts, and put your own materials in."
    )
    return redirect("study-settings", study.slug)


def _preview(request: AuthenticatedRequest, content: bytes, *, file: str, built_in: str = "") -> HttpResponse:
    try:
        content = built_in_file(built_in) if built_in else content
        template = read_template(content, file=file or built_in, user=request.user)
    except BadInput as error:
        return _choose(request, str(error))
    text = "" if built_in else content.decode("utf-8-sig")
    values = {"title": template.title, "text": text, "file": file, "built_in": built_in}
    context = {"section": "studies", "summary": template.summary(), "values": values}
    return render(request, "releases/study_template.html", context)


def _choose(request: HttpRequest, error: str = "") -> HttpResponse:
    context = {"section": "studies", "templates": built_in_templates(), "error": error}
    return render(request, "releases/study_templates.html", context, status=400 if error else 200)
