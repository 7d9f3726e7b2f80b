"""Periodic Celery tasks of recruitment."""

from config.celery import app
from experiments.models import Campaign
from judgments.recruitment import decisions, reconcile
from judgments.recruitment.alerts import mail
from judgments.recruitment.alerts.evaluation import evaluate_all
from judgments.recruitment.mturk.external_question import MTURK
from judgments.recruitment.prolific.groups import add_missing_members
from judgments.recruitment.prolific.webhooks import handle_events


@app.task(name="judgments.grant_qualifications")
def grant_qualifications() -> None:
    """Exclude participants who saw materials from other campaigns of the same study on MTurk and Prolific."""
    if Campaign.objects.filter(recruiter=MTURK).exists():
        from judgments.recruitment.mturk.recruiter import grant_missing_qualifications  # noqa: PLC0415 (boto3)

        grant_missing_qualifications()
    add_missing_members()


@app.task(name="judgments.handle_platform_events")
def handle_platform_events() -> None:
    """Reconcile the campaigns that delivered events are about, and those whose events are due again."""
    handle_events()


@app.task(name="judgments.reconcile_campaigns")
def reconcile_campaigns() -> None:
    """Read the submissions of campaigns again, and go on with payments that wait or have no answer."""
    reconcile.reconcile_due()
    decisions.continue_sending()


@app.task(name="judgments.raise_alerts")
def raise_alerts() -> None:
    """Raise and resolve alerts from what is stored here, then send the mail that is due."""
    evaluate_all()
    mail.deliver()


@app.task(name="judgments.check_balances")
def check_balances() -> None:
    """Ask the platforms for the balance of accounts with campaigns; the mail follows in a few minutes."""
    evaluate_all(is_remote=True)
