"""The doubles of the platforms under one shape, for the tests that all adapters have to pass."""

import contextlib
from collections import Counter
from importlib import import_module

from django.utils import timezone

from judgments.models import PlatformCall, PlatformIdentity, Session
from judgments.recruitment import campaigns, ledger
from judgments.recruitment.reconcile import reconcile
from judgments.recruitment.recruiter import get_recruiter
from tests import cast

OPTIONS = {
    "site": "https://lab.example.org",
    "title": "Rate sentences",
    "description": "Read twenty sentences and rate each of them.",
    "keywords": "language, ratings",
}
CURRENCIES = {"prolific": "GBP", "mturk": "USD", "direct": "GBP", "panel": "GBP"}
WITH_SUBMISSIONS = ("prolific", "mturk")
RECRUITERS = ("direct", "panel", *WITH_SUBMISSIONS)
PANEL = {"id_parameter": "pid", "returns": {"complete": "https://panel.example.org/done"}}


@contextlib.contextmanager
def double_of(recruiter, settings):
    """The running double of a platform; None for links and panels, which call nothing."""
    settings.MTURK_ENDPOINT, settings.MTURK_WORKER_SITES = "", []  # restored after the test
    if recruiter not in WITH_SUBMISSIONS:
        yield None
        return
    module = import_module(f"tools.doubles.{recruiter}")
    start = module.Double if recruiter == "mturk" else module.running
    with start() as double:
        yield double


def draft(study, recruiter, double, *, name="run", account=None, **settings):
    """A draft that passes every check."""
    if double is not None and account is None:
        account = import_module(f"tools.doubles.{recruiter}").account(double, study, cast.ada())
    fields = {
        "places": 8,
        "reward_minor": 150,
        "currency": CURRENCIES[recruiter],
        "estimated_minutes": 5,
        "options": {**OPTIONS, **(PANEL if recruiter == "panel" else {})},
        **settings,
    }
    return campaigns.create_draft(
        study, recruiter=recruiter, name=name, account=account, by=cast.ada(), **fields
    )


def submit_people(campaign, double, n):
    """So many people finish here and submit there; their submissions are read and linked."""
    campaign.refresh_from_db()
    code = campaign.options.get("codes", {}).get("complete", {}).get("code", "")
    for number in range(n):
        submission = double.arrive(campaign.external_id, f"{campaign.pk:012x}{number:012x}")
        double.submit(submission, code)
    for remote in get_recruiter(campaign).submissions(campaign):
        session = cast.begin(campaign.experiment, f"{campaign.pk}-{remote.person}")
        Session.objects.filter(pk=session.pk).update(
            campaign=campaign, status="complete", completed_at=timezone.now()
        )
        PlatformIdentity.objects.create(
            participant=session.participant,
            experiment=campaign.experiment,
            recruiter=campaign.recruiter,
            external_id=remote.person,
            parameters={"submission": remote.id},
        )
    reconcile(campaign)
    return campaign.submissions.order_by("pk")


def payments_of(double):
    """How often each submission got its reward and a bonus, from the double's record of money."""
    paid = Counter()
    for fact, times in double.money().items():
        paid[fact[0], fact[1]] += times
    return paid


def make_old(campaign):
    """Let the calls without an answer be so old that the platform is asked about them."""
    PlatformCall.objects.filter(campaign=campaign, sent_at__isnull=False).update(
        sent_at=timezone.now() - 2 * ledger.ASK_AFTER
    )
