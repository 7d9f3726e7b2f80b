"""Decisions on submissions and their way to the platform, against a platform in memory."""

import pytest
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Job
from experiments.operation.job_runner import run_job
from judgments.models import Payment, PlatformCall, PlatformIdentity, Session, Submission
from judgments.recruitment import campaigns, decisions, ledger, payments, recruiter
from judgments.recruitment.reconcile import reconcile
from tests import cast
from tools.doubles.memory import MemoryRecruiter, Platform

pytestmark = pytest.mark.django_db

State, Status = PlatformCall.State, Submission.Status
MESSAGE = "Every answer came within half a second, on all pages of the study."


@pytest.fixture
def platform():
    return Platform()


@pytest.fixture
def adapter(platform, monkeypatch):
    monkeypatch.setitem(recruiter.BUILT_IN, "memory", "tools.doubles.memory.MemoryRecruiter")
    monkeypatch.setattr(MemoryRecruiter, "__init__", lambda self, account=None: _attach(self, platform))
    return MemoryRecruiter()


def _attach(adapter, platform):
    adapter.account, adapter.platform = None, platform
    adapter.prepares_bonuses, adapter.bonuses_per_call = platform.prepares, 2 if platform.prepares else 1


@pytest.fixture
def study():
    return cast.study("agreement", n_lists=1, reward_minor=150)


@pytest.fixture
def campaign(study, platform, adapter):
    """Three people finished and submitted."""
    campaign = study.campaigns.create(
        name="run", recruiter="memory", places=10, reward_minor=150, state="running", external_id="c"
    )
    platform.campaigns["c"] = {"state": "running", "places": 10}
    for name in ("ada", "ben", "cleo"):
        platform.submit(take_part(campaign, platform, name))
    reconcile(campaign)
    return campaign


def take_part(campaign, platform, name):
    submission = platform.arrive("c", name)
    session = cast.begin(campaign.experiment, name)
    Session.objects.filter(pk=session.pk).update(
        campaign=campaign, status="complete", completed_at=timezone.now(), external_id=submission
    )
    PlatformIdentity.objects.create(
        participant=session.participant, experiment=campaign.experiment, recruiter="memory", external_id=name
    )
    return submission


def rows(campaign, *numbers):
    found = Submission.objects.filter(campaign=campaign).order_by("pk")
    return found.filter(pk__in=[found[number].pk for number in numbers]) if numbers else found


def send(campaign, by=None):
    decisions.plan_sending(campaign, by=by or cast.ada())
    return ledger.send_planned(campaign)


def test_planning_takes_as_many_queries_for_many_submissions_as_for_a_few(
    campaign, platform, django_assert_max_num_queries
):
    for number in range(30):
        platform.submit(take_part(campaign, platform, f"more-{number}"))
    reconcile(campaign)
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    with django_assert_max_num_queries(15):
        decisions.plan_sending(campaign, by=cast.ada())
    calls = PlatformCall.objects.filter(campaign=campaign, kind="approve", state=State.PLANNED)
    assert calls.count() == 33 and calls.filter(payments__kind="reward").distinct().count() == 33


def test_what_is_decided_is_previewed_then_sent_once(campaign, platform):
    assert decisions.approve(campaign, rows(campaign), by=cast.ada()) == 3
    assert decisions.approve(campaign, rows(campaign), by=cast.ada()) == 0
    sending = decisions.preview(campaign)
    assert (len(sending.approvals), sending.reward_minor, sending.fee_minor) == (3, 450, 150)
    send(campaign)
    send(campaign)
    assert platform.calls == ["approve"] * 3
    assert set(rows(campaign).values_list("status", flat=True)) == {"approved"}
    assert decisions.preview(campaign).is_empty
    assert {total.amount_minor for total in ledger.totals(campaign.experiment)} == {450}


def test_a_decision_is_undone_until_it_is_sent(campaign, platform):
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    assert decisions.undo(campaign, rows(campaign, 0), by=cast.ada()) == 1
    ledger.send_planned(campaign)
    assert platform.calls == ["approve"] * 2
    assert decisions.undo(campaign, rows(campaign), by=cast.ada()) == 0
    entry = Payment.objects.filter(kind="reward", session__submission=rows(campaign, 1).get()).get()
    with pytest.raises(BadInput, match="this was sent to the platform"):
        payments.undo(entry, by=cast.ada())


def test_pay_undone_on_the_participants_page_takes_its_call_and_its_decision_back(campaign, platform):
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    payments.undo(Payment.objects.filter(kind="reward").first(), by=cast.ada())
    send(campaign)
    assert platform.calls == ["approve"] * 2


def test_nobody_is_rejected_without_a_ground_and_a_message(campaign, platform):
    with pytest.raises(BadInput, match="choose a ground"):
        decisions.reject(campaign, rows(campaign, 0), category="", message=MESSAGE, by=cast.ada())
    with pytest.raises(BadInput, match="has 3 characters"):
        decisions.reject(campaign, rows(campaign, 0), category="LOW_EFFORT", message="bad", by=cast.ada())
    payments.refuse(rows(campaign, 1).get().session, reason="no data", currency="GBP", by=cast.ada())
    send(campaign)
    assert platform.calls == []  # a decision not to pay rejects nobody
    decisions.reject(campaign, rows(campaign, 0), category="LOW_EFFORT", message=MESSAGE, by=cast.ada())
    assert [finding.level for finding in decisions.fairness(campaign)] == ["note", "warning"]
    send(campaign)
    assert rows(campaign, 0).get().status == "rejected"


def test_a_person_who_returned_is_paid_by_a_bonus(campaign, platform):
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    first = rows(campaign, 0).get()
    platform.rows[first.external_id]["status"] = Status.RETURNED
    reconcile(campaign)
    assert rows(campaign, 0).get().mismatches == ["left_complete"]
    send(campaign)
    assert platform.calls == ["approve", "approve", "prepare", "pay"]
    assert platform.rows[first.external_id]["bonuses"] == 150


def test_a_bonus_in_a_currency_of_before_is_not_sent(campaign, platform):
    session = rows(campaign, 0).get().session
    payments.give_bonus(session, amount_minor=50, currency="GBP", reason="x", key="1", by=cast.ada())
    Payment.objects.update(currency="EUR")
    (finding,) = decisions.preview(campaign).findings
    assert "0.50 EUR were approved, and the campaign pays in GBP" in finding.text
    send(campaign)
    assert platform.calls == []


def test_no_payment_is_stored_that_the_platform_could_not_be_sent(campaign, platform):
    study, session = campaign.experiment, rows(campaign, 0).get().session
    with pytest.raises(BadInput, match="pays 1.50 GBP for an approved submission"):
        payments.approve(session, amount_minor=100, currency="GBP", by=cast.ada())
    with pytest.raises(BadInput, match="pays in GBP, not in EUR"):
        payments.give_bonus(session, amount_minor=100, currency="EUR", reason="x", key="1", by=cast.ada())
    study.reward_minor, study.currency = 100, "EUR"
    sessions = Session.objects.filter(pk=session.pk)
    with pytest.raises(BadInput, match="pays in GBP, not in EUR"):
        payments.approve_many(study, sessions, by=cast.ada())
    with pytest.raises(BadInput, match="pays in GBP, not in EUR"):
        payments.give_bonuses(study, sessions, amount_minor=5, reason="x", key="k", by=cast.ada())
    rows(campaign, 0).update(status=Status.REJECTED)
    with pytest.raises(BadInput, match="rejected on the platform"):
        payments.approve(session, amount_minor=150, currency="GBP", by=cast.ada())
    assert not Payment.objects.exists()
    rows(campaign, 0).update(status=Status.RETURNED)
    payments.approve(session, amount_minor=100, currency="GBP", by=cast.ada())  # sent as a bonus


def test_the_budget_stops_a_batch_in_the_middle_and_the_rest_waits(campaign, platform):
    campaign.total_limit_minor = 500  # two rewards with fees are 400
    campaign.save()
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    assert "the budget leaves 5.00 GBP" in decisions.preview(campaign).findings[0].text
    send(campaign)
    assert platform.calls == ["approve"] * 2
    waiting = PlatformCall.objects.get(state=State.PLANNED)
    assert "It was not sent and waits" in waiting.problem
    campaign.total_limit_minor = 600
    campaign.save()
    send(campaign)
    assert platform.calls == ["approve"] * 3


@pytest.mark.parametrize(
    ("fault", "states", "n_calls"),
    [
        ("busy", ["planned", "planned", "planned"], 1),
        ("no-money", ["failed", "planned", "planned"], 1),
        ("refused", ["failed", "confirmed", "confirmed"], 3),
        ("lost-after", ["unknown", "planned", "planned"], 1),
    ],
)
def test_a_fault_ends_the_batch_where_the_rest_would_fail_alike(campaign, platform, fault, states, n_calls):
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    platform.faults = [fault]
    send(campaign)
    assert list(PlatformCall.objects.order_by("pk").values_list("state", flat=True)) == states
    assert len(platform.calls) == n_calls
    PlatformCall.objects.filter(sent_at__isnull=False).update(sent_at=timezone.now() - 2 * ledger.ASK_AFTER)
    send(campaign)
    assert {platform.money["reward", row.external_id] for row in rows(campaign)} == {1}


def test_payments_above_the_limit_wait_for_another_person_and_do_not_get_below_it_in_parts(
    campaign, platform
):
    campaign.two_people_above_minor = 250
    campaign.save()
    decisions.approve(campaign, rows(campaign, 0), by=cast.ada())
    send(campaign)
    assert platform.calls == ["approve"]  # 2.00 with the fee
    decisions.approve(campaign, rows(campaign, 1), by=cast.ada())
    send(campaign)
    assert platform.calls == ["approve"]
    with pytest.raises(BadInput, match="you planned these payments yourself"):
        decisions.release(campaign, by=cast.ada())
    assert decisions.release(campaign, by=cast.cleo()) == 1
    ledger.send_planned(campaign)
    assert platform.calls == ["approve"] * 2
    entry = AuditEntry.objects.get(action="payments released")
    assert entry.user == cast.cleo()
    assert list(entry.details["values"].values()) == [{"old": "waiting", "new": "released: 1.50 GBP"}]


def test_what_is_sent_is_in_the_history_once_with_its_sums(campaign, platform):
    decisions.approve(campaign, rows(campaign, 0, 1), by=cast.ada())
    decisions.request_return(
        campaign, rows(campaign, 2), message="Not finished, please return.", by=cast.ada()
    )
    send(campaign)
    send(campaign)
    entry = AuditEntry.objects.get(action="campaign: send decisions")
    assert (entry.user, entry.details["mode"]) == (cast.ada(), campaign.mode)
    values = {name: change["new"] for name, change in entry.details["values"].items()}
    assert values == {"approvals": 2, "requests to return": 1, "total with fees": "4.00 GBP"}


def test_an_unknown_payment_is_settled_by_a_person_with_a_note(campaign, platform):
    session = rows(campaign, 0).get().session
    payments.give_bonus(session, amount_minor=50, currency="GBP", reason="x", key="1", by=cast.ada())
    platform.shows_bonuses_at_once = False
    platform.faults = ["", "lost-after"]
    send(campaign)
    call = PlatformCall.objects.get(kind="pay_bonuses")
    PlatformCall.objects.filter(pk=call.pk).update(sent_at=timezone.now() - 2 * ledger.ASK_AFTER)
    send(campaign)
    call.refresh_from_db()
    assert (call.state, platform.calls) == (State.UNKNOWN, ["prepare", "pay"])
    assert "Look on the platform's own site" in call.problem
    with pytest.raises(BadInput, match="needs a note"):
        ledger.settle(call, took_effect=True, note=" ", by=cast.ada())
    ledger.settle(call, took_effect=True, note="paid at 14:02", by=cast.ada())
    send(campaign)
    assert platform.calls == ["prepare", "pay"]


def test_a_refused_set_of_bonuses_is_prepared_anew_without_the_one_taken_back(campaign, platform):
    for row in rows(campaign, 0, 1):
        payments.give_bonus(row.session, amount_minor=50, currency="GBP", reason="x", key="1", by=cast.ada())
    platform.faults = ["", "no-money"]
    send(campaign)
    payments.undo(Payment.objects.filter(kind="bonus").first(), by=cast.ada())
    send(campaign)
    assert platform.calls == ["prepare", "pay", "prepare", "pay"]
    assert [platform.rows[row.external_id]["bonuses"] for row in rows(campaign)] == [0, 50, 0]


def test_the_accounting_has_a_row_for_each_payment_and_no_person(campaign, platform):
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    for row in rows(campaign):
        payments.give_bonus(row.session, amount_minor=50, currency="GBP", reason="x", key="1", by=cast.ada())
    send(campaign)
    table = list(ledger.accounting_rows(campaign.experiment))
    assert [line["kind"] for line in table] == ["reward"] * 3 + ["bonus"] * 3
    assert {line["amount"] for line in table} == {"1.50", "0.50"}
    assert sum(float(line["fee"]) for line in table) == pytest.approx(1.50 + 0.49)
    assert "cleo" not in str(table)


def newest_job():
    """Run the sending that was queued last."""
    job = Job.objects.filter(kind=decisions.SEND).latest("pk")
    run_job(job.pk)
    job.refresh_from_db()
    return job


def half_an_hour_later():
    """Let time pass for the jobs and calls so far."""
    Job.objects.update(created_at=timezone.now() - decisions.RETRY_EVERY)
    PlatformCall.objects.filter(sent_at__isnull=False).update(sent_at=timezone.now() - decisions.RETRY_EVERY)


def test_a_sending_that_stopped_halfway_goes_on_by_itself_and_sends_nothing_twice(campaign, platform):
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    decisions.send_later(campaign, by=cast.ada())
    platform.faults = ["", "busy"]
    job = newest_job()
    assert (job.result["confirmed"], job.result["planned"]) == (1, 1)
    assert decisions.continue_sending() == 0, "a busy platform is left alone for a while"
    half_an_hour_later()
    platform.faults = ["lost-after"]
    assert decisions.continue_sending() == 1
    assert decisions.continue_sending() == 0, "one sending of a campaign at a time"
    assert newest_job().result["unknown"] == 1
    half_an_hour_later()
    assert decisions.continue_sending() == 1
    assert newest_job().state == Job.State.DONE
    assert set(PlatformCall.objects.values_list("state", flat=True)) == {State.CONFIRMED}
    assert platform.calls == ["approve"] * 4  # of which one met a busy platform, and none was repeated
    assert platform.money == {("reward", row.external_id): 1 for row in rows(campaign)}
    half_an_hour_later()
    assert decisions.continue_sending() == 0


def test_what_waits_for_a_second_person_is_not_continued(campaign, platform):
    campaign.two_people_above_minor = 100
    campaign.save()
    decisions.approve(campaign, rows(campaign), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    assert decisions.continue_sending() == 0
    decisions.release(campaign, by=cast.cleo())
    assert decisions.continue_sending() == 1
    newest_job()
    assert platform.calls == ["approve"] * 3


def test_a_campaign_pays_no_more_than_its_own_limit(campaign, study):
    campaign.payment_limit_minor = 149
    campaign.save(update_fields=["payment_limit_minor"])
    sessions = Session.objects.filter(campaign=campaign)
    first, amounts = sessions.first(), {"currency": "GBP", "by": cast.ada()}
    message = "more than the campaign allows for one payment, 1.49 GBP"
    with pytest.raises(BadInput, match=message):
        payments.approve(first, amount_minor=150, **amounts)
    with pytest.raises(BadInput, match=message):
        payments.give_bonus(first, amount_minor=150, reason="x", key="k", **amounts)
    with pytest.raises(BadInput, match=message):
        payments.approve_each(study, sessions, amount_minor=150, **amounts)
    assert not Payment.objects.exists()
    with pytest.raises(BadInput, match=message):
        campaigns.create_draft(
            study, recruiter="direct", name="c", by=cast.ada(), reward_minor=150, payment_limit_minor=149
        )
    assert payments.give_bonus(first, amount_minor=149, reason="x", key="k", **amounts).amount_minor == 149
