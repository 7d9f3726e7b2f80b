"""Campaigns from the draft to their closing: checks, publication, places, pauses and limits.

Nothing here calls a platform within a transaction, and each change on a platform is a row of the ledger.
"""

import math
import secrets
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from analysis.errors import BadInput
from analysis.power.money import format_money
from analysis.text import plural
from experiments.models import AuditEntry, Campaign, Experiment, Mode, PlatformAccount
from experiments.models.lab import check_pay
from experiments.studies.history import differences
from judgments.models import PlatformCall, Submission
from judgments.recruitment import decisions, ledger
from judgments.recruitment.recruiter import (
    Cost,
    Finding,
    Level,
    PlannedCall,
    PlatformError,
    Recruiter,
    adapter,
    get_recruiter,
)

Kind, State = PlatformCall.Kind, PlatformCall.State
SETTINGS = {
    "places",
    "payment_limit_minor",
    "reward_minor",
    "currency",
    "estimated_minutes",
    "maximum_minutes",
    "total_limit_minor",
    "daily_limit_minor",
    "two_people_above_minor",
    "options",
}
#: What may change after publication; the rest is frozen on the platform.
CHANGEABLE = {
    "total_limit_minor",
    "daily_limit_minor",
    "payment_limit_minor",
    "two_people_above_minor",
}
ALLOWED = {  # states in which an action may be sent
    Kind.CREATE: {Campaign.State.DRAFT},
    Kind.PUBLISH: {Campaign.State.DRAFT},
    Kind.ADD_PLACES: {Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED},
    Kind.PAUSE: {Campaign.State.RUNNING},
    Kind.RESUME: {Campaign.State.PAUSED},
    Kind.STOP: {Campaign.State.RUNNING, Campaign.State.PAUSED},
    Kind.CLOSE: {Campaign.State.FINISHED},
}


@transaction.atomic
def create_draft(
    study: Experiment,
    *,
    recruiter: str,
    name: str,
    by: User,
    account: PlatformAccount | None = None,
    **settings: Any,
) -> Campaign:
    """Store a draft with the mode of its account; nothing is sent to the platform."""
    chosen = adapter(recruiter)
    if account is not None and not account.experiments.filter(pk=study.pk).exists():
        raise BadInput(
            f"the account “{account.label}” is not attached to this study.", remedy="Its owner can attach it."
        )
    if Campaign.objects.filter(experiment=study, name=name).exists():
        raise BadInput(
            f"the study has a campaign “{name}” already.", column="name", remedy="Choose another name."
        )
    campaign = Campaign(experiment=study, recruiter=recruiter, name=name, account=account)
    campaign.mode = account.mode if account is not None else Mode.TEST
    campaign.reward_minor, campaign.currency = study.reward_minor, study.currency
    _set(campaign, settings)
    if chosen.plugin is not None:
        campaign.options = {**_arrival_options(chosen), **campaign.options}
    campaign.save()
    _note(campaign, "campaign drafted", by=by)
    return campaign


def _arrival_options(recruiter: type[Recruiter]) -> dict[str, Any]:
    """Arrival and return on a plugin's platform: stored, so that arrivals work without the package."""
    names = list(recruiter.link_parameters)
    return {
        "link_parameters": dict(recruiter.link_parameters),
        "id_parameter": names[0],
        "submission_parameter": names[1] if len(names) > 1 else "",
        "returns": dict(recruiter.return_links),
    }


@transaction.atomic
def change_draft(campaign: Campaign, *, by: User, **settings: Any) -> Campaign:
    """Change a draft; of a published campaign, only its limits."""
    locked = Campaign.objects.select_for_update(of=("self",)).select_related("account").get(pk=campaign.pk)
    is_draft = locked.state == Campaign.State.DRAFT and not locked.external_id
    frozen = sorted(
        name for name, value in settings.items() if name not in CHANGEABLE and getattr(locked, name) != value
    )
    if frozen and not is_draft:
        raise BadInput(
            f"{', '.join(name.replace('_', ' ') for name in frozen)} cannot change: the campaign is on the"
            " platform.",
            remedy="Add places, or stop it and draft another one.",
        )
    before = {name: _plain(getattr(locked, name)) for name in settings}
    _set(locked, settings)
    locked.save(update_fields=list(settings))
    values = differences(before, {name: _plain(getattr(locked, name)) for name in settings})
    if values:
        _note(locked, "campaign changed", by=by, fields=sorted(values), values=values)
    return locked


def discard(campaign: Campaign, *, by: User) -> None:
    """Delete a draft of which the platform knows nothing."""
    with transaction.atomic():
        # Race: of a publication at the same moment, either the call is seen here, or it finds no campaign.
        locked = Campaign.objects.select_for_update(of=("self",)).filter(pk=campaign.pk).first()
        if locked is None:  # pressed twice
            return
        calls = PlatformCall.objects.filter(campaign=locked)
        if locked.state == Campaign.State.DRAFT and not locked.external_id and not calls.exists():
            reward = format_money(locked.reward_minor, locked.currency)
            values = {"reward": {"old": reward, "new": ""}, "places": {"old": locked.places, "new": ""}}
            _note(locked, "campaign discarded", by=by, values=values)
            locked.delete()
            return
    raise BadInput(
        "the platform has a draft of this campaign already.", remedy="Publish it, or delete it there."
    )


def _plain(value: Any) -> Any:
    """A setting as JSON stores it."""
    return value if isinstance(value, str | int | float | list | dict | None) else str(value)


def _set(campaign: Campaign, settings: dict[str, Any]) -> None:
    if unknown := sorted(settings.keys() - SETTINGS):
        raise BadInput(f"a campaign has no setting {unknown[0]!r}.")
    for name, value in settings.items():
        setattr(campaign, name, value)
    if not settings.keys() & {"reward_minor", "currency", "options", "payment_limit_minor"}:
        return
    screened_out = campaign.options.get("codes", {}).get("screened_out", {})
    for amount_minor in (campaign.reward_minor, screened_out.get("reward_minor")):
        if amount_minor:
            check_pay(
                campaign.experiment.lab,
                amount_minor,
                campaign.currency,
                campaign_limit_minor=campaign.payment_limit_minor,
            )


# Checks


def checks(campaign: Campaign) -> list[Finding]:
    """Everything to know before publishing: our own checks, then the platform's."""
    recruiter = get_recruiter(campaign)
    findings = _own_checks(campaign)
    try:
        findings += recruiter.check(campaign)
        findings += _cost_checks(campaign, recruiter)
    except PlatformError as error:
        findings.append(
            Finding(Level.ERROR, f"{recruiter.label} could not be asked: {error.message}", error.remedy)
        )
    return findings


def _own_checks(campaign: Campaign) -> list[Finding]:
    findings = []
    study = campaign.experiment
    if not study.is_taking_participants:
        findings.append(
            Finding(
                Level.ERROR,
                f"The study is {study.get_status_display()}: participants would be turned away.",
                "Open the study first.",
            )
        )
    elif study.status == Experiment.Status.PILOT:
        findings.append(
            Finding(
                Level.WARNING,
                "The study is a pilot: answers are test data and do not count.",
                "Open the study to collect answers that count.",
            )
        )
    if campaign.account is not None and campaign.account.mode != campaign.mode:
        findings.append(
            Finding(
                Level.ERROR,
                f"The campaign was drafted in {campaign.mode} mode, and its account is in"
                f" {campaign.account.mode} mode.",
                "Draft another campaign with this account.",
            )
        )
    n_lists = study.lists.filter(version=study.current_version(), round=study.current_round).count()
    if n_lists and campaign.places % n_lists:
        even = -(-campaign.places // n_lists) * n_lists
        findings.append(
            Finding(
                Level.WARNING,
                f"{plural(campaign.places, 'place')} over {plural(n_lists, 'list')}: some lists get one more"
                " participant than others.",
                f"{even} places fill all lists alike.",
                field="places",
            )
        )
    if (campaign.maximum_minutes or math.inf) < (campaign.estimated_minutes or 0):
        findings.append(
            Finding(
                Level.ERROR,
                "The maximum time is below the estimated time.",
                "Give people at least twice the time that you estimate.",
                field="maximum_minutes",
            )
        )
    hourly = hourly_minor(campaign)
    if hourly is not None:
        findings.append(
            Finding(Level.NOTE, f"The reward is {format_money(hourly, campaign.currency)} per hour.")
        )
    return findings


def hourly_minor(campaign: Campaign) -> int | None:
    """The reward for an hour at the estimated time, in minor units; None without an estimate."""
    if not campaign.estimated_minutes:
        return None
    return round(campaign.reward_minor * 60 / campaign.estimated_minutes)


def cost(campaign: Campaign, *, places: int | None = None) -> Cost:
    """Return the cost of the campaign's places, or of ``n`` places, with fees."""
    return get_recruiter(campaign).cost(campaign, places=campaign.places if places is None else places)


def _cost_checks(campaign: Campaign, recruiter: Recruiter, *, places: int | None = None) -> list[Finding]:
    """Cost beside the balance and the limits, in one currency."""
    total = recruiter.cost(campaign, places=campaign.places if places is None else places)
    findings = []
    shown = format_money(total.total_minor, total.currency)
    if total.currency != campaign.currency:
        return [
            Finding(
                Level.ERROR,
                f"The account pays in {total.currency} and the campaign is in {campaign.currency}.",
                f"Set the campaign's currency to {total.currency}.",
                field="currency",
            )
        ]
    balance = recruiter.balance()
    if balance is not None and balance.currency != campaign.currency:
        findings.append(
            Finding(
                Level.ERROR,
                f"The account's balance is in {balance.currency} and the campaign in {campaign.currency}.",
                f"Set the campaign's currency to {balance.currency}.",
                field="currency",
            )
        )
    elif balance is not None and balance.amount_minor < total.total_minor:
        findings.append(
            Finding(
                Level.ERROR,
                f"The balance is {format_money(balance.amount_minor, balance.currency)}, and the places cost"
                f" {shown}.",
                "Add money on the platform's own site, or reduce the places.",
                field="places",
            )
        )
    for name, left_minor in ledger.limits_left(campaign).items():
        # The daily limit stops payments only: places are paid on many days.
        if name == "budget" and total.total_minor > left_minor:
            findings.append(
                Finding(
                    Level.ERROR,
                    f"The places cost {shown} with fees, and the {name} leaves"
                    f" {format_money(left_minor, campaign.currency)}.",
                    "Raise the budget, or reduce the places.",
                    field="total_limit_minor",
                )
            )
    return findings


def dry_run(campaign: Campaign, action: str, **arguments: Any) -> list[PlannedCall]:
    """The requests that an action would send; sends nothing."""
    recruiter = get_recruiter(campaign)
    if action == Kind.PUBLISH and not campaign.external_id:
        return [*recruiter.plan_calls(Kind.CREATE, campaign), *recruiter.plan_calls(action, campaign)]
    return recruiter.plan_calls(action, campaign, **arguments)


# Actions


def publish(campaign: Campaign, *, by: User) -> PlatformCall:
    """Create the draft on the platform, unless it is there, and publish it; refused while a check fails."""
    campaign.refresh_from_db()
    if campaign.state == Campaign.State.DRAFT and not _open_call(campaign, Kind.PUBLISH):
        errors = [finding for finding in checks(campaign) if finding.level == Level.ERROR]
        if errors:
            raise BadInput(errors[0].text, column=errors[0].field, remedy=errors[0].remedy)
        campaign.refresh_from_db()  # Race: another request may have published during the platform call
    if not campaign.external_id and campaign.state == Campaign.State.DRAFT:
        creation = _act(campaign, Kind.CREATE, by=by)
        if creation.state != State.CONFIRMED:
            return creation
    return _act(campaign, Kind.PUBLISH, by=by)


def top_up(campaign: Campaign, n: int, *, by: User, places: int | None = None) -> PlatformCall:
    """Add ``n`` places; refused where the number of ``places`` that the person saw has changed since."""
    if not 0 < n <= 100_000:
        raise BadInput(
            "the number of places is not above 0.", column="places", remedy="Write for example 20."
        )
    errors = [
        finding
        for finding in _cost_checks(campaign, get_recruiter(campaign), places=n)
        if finding.level == Level.ERROR
    ]
    if errors:
        raise BadInput(errors[0].text, column=errors[0].field, remedy=errors[0].remedy)
    campaign.refresh_from_db(fields=["places"])
    # Race: of two presses of the button at once, the second comes here with the number before the first.
    if places is not None and places != campaign.places:
        raise BadInput(
            f"the campaign has {plural(campaign.places, 'place')} now, and not {places}: somebody added some."
            " None were added a second time.",
            remedy="Add places once more if there are still too few.",
        )
    return _act(campaign, Kind.ADD_PLACES, by=by, request={"n": n, "total": campaign.places + n})


def pause(campaign: Campaign, *, by: User) -> PlatformCall:
    """Pause admission."""
    return _act(campaign, Kind.PAUSE, by=by)


def resume(campaign: Campaign, *, by: User) -> PlatformCall:
    """Admit participants again."""
    return _act(campaign, Kind.RESUME, by=by)


def stop(campaign: Campaign, *, by: User) -> PlatformCall:
    """End admission; submissions can still be decided and paid."""
    return _act(campaign, Kind.STOP, by=by)


def _act(
    campaign: Campaign, kind: PlatformCall.Kind, *, by: User, request: dict[str, Any] | None = None
) -> PlatformCall:
    """Plan and send one call of the campaign, or go on with the same call that has no answer yet."""
    recruiter = get_recruiter(campaign)
    call = _plan_action(campaign, kind, by=by, request=request)
    if call.state in {State.SENT, State.UNKNOWN}:
        if not ledger.unresolved_calls(campaign).filter(pk=call.pk).exists():
            return call  # its request may still be on its way
        ledger.resolve(call, recruiter=recruiter)
    if call.state == State.PLANNED:
        ledger.carry_out(call, recruiter=recruiter)
    campaign.refresh_from_db()
    return call


@transaction.atomic
def _plan_action(
    campaign: Campaign, kind: PlatformCall.Kind, *, by: User, request: dict[str, Any] | None
) -> PlatformCall:
    # Race: of two presses of a button, the second finds the call of the first.
    locked = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    open_call = _open_call(locked)
    if open_call is not None and open_call.kind == kind:
        return open_call
    if open_call is not None:
        raise BadInput(
            f"“{open_call.get_kind_display()}” is not settled yet.",
            remedy="See the ledger: ask the platform about it first.",
        )
    if kind in ALLOWED and locked.state not in ALLOWED[kind]:
        raise BadInput(
            f"the campaign is {locked.get_state_display()}.", remedy="Reload the page: it may have changed."
        )
    if kind == Kind.CREATE and locked.external_id:
        raise BadInput("another user is publishing the campaign.", remedy="Reload the page.")
    call = ledger.plan(campaign, kind, key=f"{kind}-{secrets.token_hex(12)}"[:64], by=by, request=request)
    _note(locked, f"campaign: {Kind(kind).label}", by=by, **(request or {}))
    return call


def _open_call(campaign: Campaign, kind: str = "") -> PlatformCall | None:
    """The call of the campaign itself that is planned, being sent or unknown."""
    calls = PlatformCall.objects.filter(
        campaign=campaign, kind__in=[kind] if kind else Kind.of_campaign(), state__in=State.open()
    )
    return calls.select_related("campaign__account").order_by("pk").first()


# Closing


def open_matters(campaign: Campaign) -> list[str]:
    """Why a campaign cannot be closed yet; empty if everybody is decided and paid."""
    matters = []
    if campaign.state in {Campaign.State.RUNNING, Campaign.State.PAUSED}:
        matters.append("It takes participants: stop it first.")
    calls = PlatformCall.objects.filter(campaign=campaign)
    if n := calls.filter(state__in=State.open()).exclude(kind=Kind.CLOSE).count():
        matters.append(f"{plural(n, 'call')} without a confirmation.")
    kinds = [*Kind.spending(), Kind.PREPARE_BONUSES, Kind.REJECT, Kind.REQUEST_RETURN]
    if n := calls.filter(state=State.FAILED, kind__in=kinds).count():
        matters.append(f"{plural(n, 'call')} that the platform refused: send again, or undo the decision.")
    rows = Submission.objects.filter(campaign=campaign)
    if n := rows.filter(status=Submission.Status.SUBMITTED).count():
        matters.append(f"{plural(n, 'submission')} without a decision on the platform.")
    if n := rows.filter(status__in=[Submission.Status.ACTIVE, Submission.Status.UNKNOWN]).count():
        matters.append(f"{plural(n, 'person', 'people')} still taking part.")
    if n := decisions.unsent_payments(campaign).count():
        matters.append(f"{plural(n, 'payment')} decided and not sent.")
    return matters


def close(campaign: Campaign, *, by: User) -> PlatformCall:
    """Tidy up on the platform and close a campaign in which everybody is decided and paid."""
    if matters := open_matters(campaign):
        raise BadInput(f"the campaign cannot be closed yet. {' '.join(matters)}")
    closed = PlatformCall.objects.filter(campaign=campaign, kind=Kind.CLOSE, state=State.CONFIRMED)
    return closed.first() or _act(campaign, Kind.CLOSE, by=by)


def _note(campaign: Campaign, action: str, *, by: User, **details: Any) -> None:
    AuditEntry.objects.create(
        experiment=campaign.experiment,
        user=by,
        action=action[:60],
        details={"campaign": campaign.name, "mode": campaign.mode, **details},
    )
