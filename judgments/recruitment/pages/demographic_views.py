"""Upload of Prolific's demographic export: a preview without ids, then answers under pseudonyms."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from analysis.text import plural
from experiments.models import Campaign
from experiments.pages.access import AuthenticatedRequest, get_study
from judgments.imports.readers.prolific import MAX_BYTES
from judgments.recruitment.demographics import (
    DEMOGRAPHICS,
    JoinedExport,
    join_export,
    store_answers,
)
from judgments.recruitment.pages.campaign_access import campaign_context, get_campaign, sentence

SALT = "demographics"
PREVIEW_SECONDS = 3600
MOST_ANSWERS = 6  # of a column, shown in the preview


class UploadForm(forms.Form):
    """The export."""

    file = forms.FileField(
        label="Demographic export (CSV)",
        help_text="On Prolific: the study, More, Export demographic data.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )


@login_required
def demographics(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Upload an export, preview what was joined, and store the chosen columns."""
    study = get_study(request.user, slug, editing=True)
    campaign = get_campaign(study, campaign_id)
    if campaign.recruiter != "prolific" or campaign.state == Campaign.State.DRAFT:
        raise Http404("only published campaigns on Prolific have demographics")
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and "joined" in request.POST:
        try:
            n = _store(request, campaign)
        except BadInput as error:
            messages.error(request, sentence(error))
            return redirect("study-demographics", slug, campaign_id)
        messages.success(request, f"Stored with {plural(n, 'participant')}. The file was not kept.")
        return redirect("study-campaign", slug, campaign_id)
    joined = None
    if request.method == "POST" and form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            joined = join_export(campaign, upload.read(MAX_BYTES + 1))
        except BadInput as error:
            form.add_error("file", sentence(error))
    return _page(request, campaign, form, joined)


def _page(
    request: AuthenticatedRequest, campaign: Campaign, form: UploadForm, joined: JoinedExport | None
) -> HttpResponse:
    stored = campaign.platform_data.get(DEMOGRAPHICS, {})
    columns: list[dict[str, Any]] = []
    sealed = ""
    if joined is not None and joined.n_joined:
        columns = [
            {
                "name": name,
                "label": label,
                "answers": joined.counts[name][:MOST_ANSWERS],
                "n_more": max(len(joined.counts[name]) - MOST_ANSWERS, 0),
                "is_published": name in stored.get("published", []),
            }
            for name, label in joined.labels.items()
            if joined.counts[name]
        ]
        # Signed and sent back by the preview: nothing is stored before it is confirmed.
        sealed = signing.dumps(
            {"campaign": campaign.pk, "labels": joined.labels, "answers": joined.answers},
            salt=SALT,
            compress=True,
        )
    context = campaign_context(
        campaign.experiment,
        campaign,
        tab="overview",
        form=form,
        joined=joined,
        columns=columns,
        sealed=sealed,
        stored=sorted(stored.get("labels", {}).values()),
    )
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "judgments/recruitment/demographics.html", context, status=status)


def _store(request: AuthenticatedRequest, campaign: Campaign) -> int:
    try:
        document = signing.loads(request.POST["joined"], salt=SALT, max_age=PREVIEW_SECONDS)
    except signing.BadSignature:
        raise BadInput("the preview is older than an hour.", remedy="Upload the file again.") from None
    if document["campaign"] != campaign.pk:
        raise BadInput("the preview belongs to another campaign.", remedy="Upload the file again.")
    chosen = set(request.POST.getlist("column"))
    labels = {name: label for name, label in document["labels"].items() if name in chosen}
    if not labels:
        raise BadInput("no column is chosen: nothing was stored.", remedy="Tick at least one.")
    answers = {int(number): row for number, row in document["answers"].items()}
    return store_answers(
        campaign, answers, labels=labels, published=request.POST.getlist("published"), by=request.user
    )
