"""ExternalQuestion: the document that makes MTurk show our page in a frame, and the parameters it appends.

The worker site shows our page in a frame, where cookies are not sent. A worker is recognized by the ids that
MTurk appends to the address: the assignment, which only MTurk and the worker know, together with the worker's
id. A preview stores nothing.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import salted_hmac

from experiments.models import Campaign, Experiment, Mode
from judgments.models import PlatformIdentity, Session
from judgments.recruitment.recruiter import ArrivalLink, HandInForm
from judgments.sessions.protocol import load_protocol

QUESTION_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
)
ANSWER_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
)
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
MTURK = "mturk"
PLATFORM_SITES = {
    Mode.TEST.value: "https://workersandbox.mturk.com",
    Mode.LIVE.value: "https://www.mturk.com",
}
#: Every host of the platform; which of them frames our page is not documented.
FRAMING_SITES = ("https://*.mturk.com",)
SUBMIT_PATH = "/mturk/externalSubmit"
ASSIGNMENT, HIT, WORKER, SUBMIT_TO = "assignmentId", "hitId", "workerId", "turkSubmitTo"
RECEIPT = "receipt"
LONGEST_ID = 64


def arrival_address(campaign: Campaign) -> str:
    """The address that MTurk opens in its frame; without a host if the campaign has none stored."""
    path = reverse("take-mturk", args=[campaign.experiment.link_slug])
    return f"{str(campaign.options.get('site', '')).rstrip('/')}{path}?campaign={campaign.name}"


def question_document(address: str) -> str:
    """The XML of an ExternalQuestion that fills the worker's window."""
    root = ElementTree.Element("ExternalQuestion", xmlns=QUESTION_SCHEMA)
    ElementTree.SubElement(root, "ExternalURL").text = address  # the library escapes the ampersands
    ElementTree.SubElement(root, "FrameHeight").text = "0"
    return ElementTree.tostring(root, encoding="unicode")


def read_receipt(answer: str) -> str:
    """The receipt in the answer of an assignment; empty where there is none."""
    if not answer.strip() or "<!DOCTYPE" in answer:  # entities expand without limit
        return ""
    try:
        root = ElementTree.fromstring(answer)  # noqa: S314 - without a document type nothing expands
    except ElementTree.ParseError:
        return ""
    texts = {
        row.findtext(f"{{{ANSWER_SCHEMA}}}QuestionIdentifier"): row.findtext(f"{{{ANSWER_SCHEMA}}}FreeText")
        for row in root
    }
    return texts.get(RECEIPT) or ""


@dataclass(frozen=True)
class WorkerLink:
    """Query parameters that MTurk appends to our address."""

    assignment: str = ""
    hit: str = ""
    worker: str = ""
    submit_to: str = ""

    @property
    def is_preview(self) -> bool:
        """Whether the worker only looks: nothing may be stored."""
        return not self.assignment or self.assignment == PREVIEW or not self.worker

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters as they came, for the vault."""
        values = {
            ASSIGNMENT: self.assignment,
            HIT: self.hit,
            WORKER: self.worker,
            SUBMIT_TO: self.submit_to,
        }
        return {name: value for name, value in values.items() if value}


def read_worker_link(query: Mapping[str, str]) -> WorkerLink:
    """The parameters of an address that MTurk opened; a site that is not allowed is left out."""
    values = {name: str(query.get(name, ""))[:LONGEST_ID] for name in (ASSIGNMENT, HIT, WORKER)}
    return WorkerLink(
        values[ASSIGNMENT], values[HIT], values[WORKER], submit_site(str(query.get(SUBMIT_TO, "")))
    )


def identify_worker(request: HttpRequest, experiment: Experiment) -> ArrivalLink | None:
    """Read the link of a worker; None if the study has no such campaign."""
    campaigns = Campaign.objects.filter(experiment=experiment, recruiter=MTURK)
    campaign = campaigns.filter(name=request.GET.get("campaign", "")).first()
    if campaign is None:
        return None
    worker = read_worker_link(request.GET)
    identity = f"{campaign.pk}:{worker.assignment}:{worker.worker}"
    return ArrivalLink(
        worker.worker,
        personal=worker.parameters,
        channel=campaign,
        submission=worker.assignment,
        submission_parameter=ASSIGNMENT,
        is_preview=worker.is_preview,
        # Race: two windows of one assignment are one arrival.
        key=salted_hmac("mturk-arrival", identity, algorithm="sha256").hexdigest(),
        hand_in=HandInForm(),
    )


def hand_in_form(session: Session) -> HandInForm:
    """The form that submits a worker's HIT, or the empty one, with which the HIT is returned.

    The form is shown whenever the session has earned its pay, or a part of it, and as often as it is opened.
    """
    screened_out = session.status == Session.Status.SCREENED_OUT and bool(
        load_protocol(session.version).screen_out_code
    )
    identity = PlatformIdentity.objects.filter(participant=session.participant_id).first()
    if session.campaign is None or identity is None or not (session.completion_code or screened_out):
        return HandInForm()
    site = submit_site(identity.parameters.get(SUBMIT_TO, "")) or PLATFORM_SITES[session.campaign.mode]
    assignment = identity.parameters.get(ASSIGNMENT, "")
    return HandInForm(assignment, receipt_code(session), f"{site}{SUBMIT_PATH}")


def receipt_code(session: Session) -> str:
    """Return the content of our form for the worker site: it identifies the session, not the person."""
    return salted_hmac("mturk-receipt", session.token, algorithm="sha256").hexdigest()[:16]


def submit_site(address: str) -> str:
    """The site that takes the worker's form, if it is one that is allowed; else empty."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    origin = f"{parts.scheme}://{parts.netloc}"
    return origin if origin in worker_sites() else ""


def worker_sites() -> tuple[str, ...]:
    """Sites to which a worker's form may be sent: the platform's, and those of the setting."""
    return (*PLATFORM_SITES.values(), *settings.MTURK_WORKER_SITES)


def framing_sites() -> tuple[str, ...]:
    """Sites that may show a worker's pages in a frame."""
    return (*FRAMING_SITES, *settings.MTURK_WORKER_SITES)
