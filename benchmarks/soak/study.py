"""The database's side of a soak: each step is a process of its own that goes by the soak's environment.

``python -m benchmarks.soak.study STEP``: ``make`` prepares a study, ``campaign`` one of its campaigns
on the double of a platform, ``token`` makes one of the API and ``drafts`` tells what was made with it,
``facts`` tells what is stored, ``money`` what the ledger holds, ``age`` lets calls without an answer be old
enough to ask about, ``settle`` says what a person saw on the platform's site, ``lapse`` lets leases run out,
``sweep`` notes it. Arguments come as JSON on standard input, the result goes as JSON to standard output.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.soak.services import ROOT

SLUG = "soak"


def step(name: str, environment: dict[str, str], argument: Any = None) -> Any:
    """Run one step against the database of an environment."""
    process = subprocess.run(
        [sys.executable, "-m", __name__, name],
        cwd=ROOT,
        env=environment,
        input=json.dumps(argument),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise RuntimeError(f"{name} failed: {process.stderr[-2000:]}")
    return json.loads(process.stdout.strip().splitlines()[-1])


def make(fields: dict[str, Any]) -> str:
    """Migrate, gather static files, open a study."""
    from django.core.management import call_command

    from tests import cast

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    materials = cast.material_set(SLUG, n_items=fields.pop("n_items"))
    cast.study(SLUG, materials=materials, **fields)
    return SLUG


def campaign(fields: dict[str, Any]) -> dict[str, Any]:
    """A running campaign on a double; its number here and its study there."""
    from experiments.models import Experiment
    from judgments.recruitment import campaigns, credentials
    from tests import cast

    study = Experiment.objects.get(slug=SLUG)
    account = credentials.add_account(
        study,
        platform=fields["recruiter"],
        label="Double",
        secrets=fields["secrets"],
        by=cast.ada(),
        options={"currency": fields["currency"]},
    )
    draft = campaigns.create_draft(
        study,
        recruiter=fields["recruiter"],
        name=fields["recruiter"],
        account=account,
        by=cast.ada(),
        places=fields["places"],
        reward_minor=150,
        currency=fields["currency"],
        estimated_minutes=5,
        options={"site": fields["site"], "title": "Rate sentences", "description": "Rate some sentences."},
    )
    campaigns.publish(draft, by=cast.ada())
    draft.refresh_from_db()
    return {"pk": draft.pk, "study": draft.external_id}


def token(argument: None) -> str:
    """A token of the API that may read and write."""
    from experiments.models import ApiToken
    from experiments.pages.account import make_token
    from tests import cast

    return make_token(cast.ada(), name="soak", scopes=ApiToken.Scope.values, days=1)


def drafts(argument: None) -> dict[str, str]:
    """Descriptions of all drafts by slug."""
    from experiments.models import Experiment

    return dict(Experiment.objects.filter(status="draft").values_list("slug", "description"))


def money(argument: None) -> dict[str, Any]:
    """Rewards and bonuses by submission: confirmed in the ledger, and not settled yet."""
    from experiments.models import Campaign
    from judgments.models import PlatformCall, Submission
    from judgments.recruitment import decisions

    Kind, State = PlatformCall.Kind, PlatformCall.State
    rows: dict[str, list[tuple[str, str]]] = {"confirmed": [], "open": []}
    names = {State.CONFIRMED: "confirmed"}
    calls = PlatformCall.objects.filter(kind__in=[Kind.APPROVE, Kind.PAY_BONUSES])
    for call in calls.exclude(state=State.CANCELLED).select_related("submission", "campaign"):
        facts = rows[names.get(State(call.state), "open")]
        if call.kind == Kind.APPROVE and call.submission:
            facts.append(("reward", call.submission.external_id))
        facts += [("bonus", row["submission"]) for row in call.request.get("bonuses", [])]
    return {
        **rows,
        "complete": list(Submission.objects.values_list("external_id", flat=True)),
        "unknown": list(calls.filter(state=State.UNKNOWN).values_list("pk", flat=True)),
        "is_settled": not calls.filter(state__in=[State.PLANNED, State.SENT, State.UNKNOWN]).exists()
        and not Submission.objects.filter(status="submitted").exists()
        and all(decisions.preview(row).is_empty for row in Campaign.objects.all()),
    }


def age(argument: None) -> int:
    """Let calls without an answer be so old that the platform is asked about them, as after five minutes."""
    from django.db.models import F

    from judgments.models import PlatformCall
    from judgments.recruitment.ledger import ASK_AFTER

    waiting = PlatformCall.objects.filter(state__in=["sent", "unknown"])
    return waiting.update(sent_at=F("sent_at") - 2 * ASK_AFTER)


def settle(paid: list[tuple[str, str]]) -> int:
    """Settle what the platform cannot say by what its own site shows: these were paid."""
    from judgments.models import PlatformCall
    from judgments.recruitment import ledger
    from tests import cast

    facts = {tuple(fact) for fact in paid}
    unknown = PlatformCall.objects.filter(state="unknown", kind=PlatformCall.Kind.PAY_BONUSES)
    for call in unknown:
        took_effect = all(("bonus", row["submission"]) in facts for row in call.request["bonuses"])
        ledger.settle(call, took_effect=took_effect, note="seen on the site", by=cast.ada())
    return len(unknown)


def facts(argument: None) -> dict[str, Any]:
    """Sessions, judgments and conflicts as they are stored."""
    from django.db.models import Count
    from django.utils import timezone

    from judgments.models import Judgment, Participant, Session, SessionEvent
    from judgments.recruitment.mturk.external_question import MTURK, receipt_code
    from judgments.sessions.completion import shown_code

    def is_worker(session: Session) -> bool:
        return session.campaign is not None and session.campaign.recruiter == MTURK

    judgments = Judgment.objects.order_by("pk").values_list(
        "trial__session__token", "trial__public_id", "response"
    )
    return {
        "sessions": [
            {
                "token": session.token,
                "participant": session.participant_id,
                "list": session.list_id,
                "status": session.status,
                "code": session.completion_code,
                "shown_code": receipt_code(session) if is_worker(session) else shown_code(session),
                "n_trials": session.n_planned,
                "n_answered": session.n_stored,
                "is_lapsed": session.lease_expires_at < timezone.now(),
            }
            for session in Session.objects.select_related("campaign")
            .annotate(n_planned=Count("trials"), n_stored=Count("trials__judgment"))
            .order_by("pk")
        ],
        "participants": Participant.objects.count(),
        "judgments": list(judgments),
        "conflicts": SessionEvent.objects.filter(kind="conflict").count(),
    }


def lapse(tokens: list[str]) -> int:
    """Set the clock of these sessions forward: their leases ran out."""
    from datetime import timedelta

    from django.utils import timezone

    from judgments.models import Session

    past = timezone.now() - timedelta(seconds=1)
    return Session.objects.filter(token__in=tokens).update(lease_expires_at=past)


def sweep(argument: None) -> int:
    """What the scheduler does every minute."""
    from judgments.sessions.leases import expire_sessions

    return expire_sessions()


STEPS = {
    "make": make,
    "campaign": campaign,
    "token": token,
    "drafts": drafts,
    "money": money,
    "age": age,
    "settle": settle,
    "facts": facts,
    "lapse": lapse,
    "sweep": sweep,
}

if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(STEPS[sys.argv[1]](json.load(sys.stdin))))
