"""Arrivals from MTurk: the worker site shows our page in a frame, where cookies are not sent.

A worker is recognized by the ids that MTurk appends to the address: the assignment, which only MTurk and the
worker know, together with the worker's id. Both are needed, because a returned assignment goes to the next
worker under the same id. A preview stores nothing.
"""

from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from experiments.models import Campaign, Experiment, ExperimentVersion
from experiments.studies.languages import interface_translation
from judgments.models import Judgment, PlatformIdentity, Session
from judgments.recruitment.mturk.external_question import (
    ASSIGNMENT,
    MTURK,
    HitForm,
    WorkerLink,
    hit_form,
    read_worker_link,
)
from judgments.screens.arrival_views import Link, answer_arrival, consent_text, not_open_page
from judgments.screens.shared_pages import allow_frame, not_found, page, remember_protocol
from judgments.sessions.arrival import newest_version_of
from judgments.sessions.places import may_join_next_round
from judgments.sessions.protocol import protocol_of


# Participants have no login; the page is shown inside the platform.
@csrf_exempt  # nosemgrep: without-csrf
@require_http_methods(["GET", "HEAD", "POST"])
def mturk_arrival(request: HttpRequest, slug: str) -> HttpResponse:
    """The page that the worker site opens for one campaign of a study."""
    version = newest_version_of(slug)
    if version is None:
        return allow_frame(not_open_page(request, slug))
    name = request.GET.get("campaign", "")
    campaign = Campaign.objects.filter(experiment=version.experiment, recruiter=MTURK, name=name).first()
    if campaign is None:
        return not_found(request)
    remember_protocol(request, protocol_of(version))
    worker = read_worker_link(request.GET)
    if worker.is_preview:
        return allow_frame(_preview_page(request, version))
    return allow_frame(_arrival(request, version, campaign, worker))


def _preview_page(request: HttpRequest, version: ExperimentVersion) -> HttpResponse:
    protocol = protocol_of(version)
    with interface_translation(protocol.language):
        text = consent_text(protocol)
    return page(
        request,
        "hit_preview",
        language=protocol.language,
        title=protocol.title,
        contact=protocol.contact,
        text=text,
    )


def _arrival(
    request: HttpRequest, version: ExperimentVersion, campaign: Campaign, worker: WorkerLink
) -> HttpResponse:
    experiment = version.experiment
    same, other = _earlier_sessions(experiment, campaign, worker)
    if same is not None and same.is_final and not may_join_next_round(same, experiment):
        # Who shows only ids sees no code, no withdrawal and no answers: the way to submit, and nothing else.
        return _last_step_page(request, version, hit_form(same, protocol_of(same.version)), took_part=False)
    if same is None and other is not None and not may_join_next_round(other, experiment):
        return _last_step_page(request, version, HitForm(), took_part=True)
    identity = f"{campaign.pk}:{worker.assignment}:{worker.worker}"
    link = Link(
        worker.worker,
        personal=worker.parameters,
        channel=campaign,
        submission=worker.assignment,
        # Race: two windows of one assignment are one arrival.
        key=salted_hmac("mturk-arrival", identity, algorithm="sha256").hexdigest(),
        hit=HitForm(),
    )
    response = answer_arrival(request, version, link, earlier=same or other)
    if other is not None and same is None:  # another round of the study, in another assignment
        PlatformIdentity.objects.filter(participant=other.participant_id).update(parameters=worker.parameters)
    return response


def _earlier_sessions(
    experiment: Experiment, campaign: Campaign, worker: WorkerLink
) -> tuple[Session | None, Session | None]:
    """The worker's session of this assignment, and one of another assignment in which something was done."""
    identities = PlatformIdentity.objects.with_id(experiment, worker.worker).filter(recruiter=MTURK)
    same = other = None
    for identity in identities:
        sessions = Session.objects.filter(
            participant=identity.participant_id, campaign__mode=campaign.mode
        ).exclude(status=Session.Status.REFUSED)
        session = sessions.select_related("experiment", "version", "campaign").order_by("pk").last()
        if session is None:
            continue
        if identity.parameters.get(ASSIGNMENT) == worker.assignment:
            same = session
        elif session.is_final or Judgment.objects.filter(trial__session=session).exists():
            other = session
    return same, other


def _last_step_page(
    request: HttpRequest, version: ExperimentVersion, hit: HitForm | None, *, took_part: bool
) -> HttpResponse:
    protocol = protocol_of(version)
    return page(
        request,
        "hit_last_step",
        language=protocol.language,
        title=protocol.title,
        contact=protocol.contact,
        hit=hit,
        took_part=took_part,
    )
