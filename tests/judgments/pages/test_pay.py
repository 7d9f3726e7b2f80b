"""Pay is decided apart from the analysis: approve, bonus, not paid, undo, many at once, each on the trail."""

import pytest

from analysis.errors import BadInput
from experiments.models import AuditEntry
from judgments.models import Flag, Payment, Session
from judgments.recruitment import campaigns
from judgments.sessions.leases import expire_sessions
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/participants/"


@pytest.fixture
def study():
    return cast.study("agreement", reward_minor=150, currency="GBP")


def decide(client, session, decision, **fields):
    sent = {"decision": decision, "amount": "1.50", "currency": "GBP", **fields}
    return client.post(f"/studies/agreement/sessions/{session.pk}/pay/", sent, follow=True)


def pay_of(client, query=""):
    (row,) = client.get(ADDRESS + query).context["participants"]
    return row["sessions"][0].pay


def test_approving_twice_is_one_row_and_is_on_the_page_and_the_trail(client, study):
    session = cast.sit(study)
    client.force_login(cast.ada())
    assert pay_of(client) == "undecided"
    for _ in range(2):
        page = decide(client, session, "approve")
    assert "reward 1.50 GBP" in page.content.decode()
    (row,) = Payment.objects.all()
    assert (row.amount_minor, row.currency, row.decided_by) == (150, "GBP", cast.ada())
    assert AuditEntry.objects.filter(action="pay: reward").count() == 1
    assert "pay: reward" in page.content.decode()


def test_undoing_keeps_both_rows_and_opens_the_decision_again(client, study):
    session = cast.sit(study)
    client.force_login(cast.ada())
    decide(client, session, "approve")
    reward = Payment.objects.get()
    for _ in range(2):
        client.post(f"/studies/agreement/payments/{reward.pk}/undo/")
    assert [row.kind for row in Payment.objects.all()] == ["reward", "reversal"]
    assert pay_of(client) == "undecided"
    decide(client, session, "not_paid", reason="asked to be left out")
    assert pay_of(client) == "not_paid"


def test_not_paying_needs_a_reason_and_changes_nothing_in_the_analysis(client, study):
    session = cast.sit(study)
    client.force_login(cast.ada())
    assert "needs a reason" in decide(client, session, "not_paid").content.decode()
    assert not Payment.objects.exists()
    decide(client, session, "not_paid", reason="two instruction checks failed")
    assert not Flag.objects.exists()
    assert "Undo that first" in decide(client, session, "approve").content.decode()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"amount": ""}, "Amount: nothing is written here. Write for example 1.50."),
        ({"amount": "1,5x"}, "Amount: &#x27;1,5x&#x27; is no amount."),
        ({"currency": "pounds"}, "Currency: &#x27;POUNDS&#x27; is no currency."),
    ],
)
def test_a_wrong_field_is_named_as_on_the_page(client, study, fields, message):
    session = cast.sit(study)
    client.force_login(cast.ada())
    page = decide(client, session, "approve", **fields).content.decode()
    assert message in page and "Column" not in page
    assert not Payment.objects.exists()


def test_no_row_can_be_selected_where_no_usual_pay_is_set(client):
    cast.sit(cast.study("agreement", currency="GBP"))
    client.force_login(cast.ada())
    page = client.get(ADDRESS)
    assert page.context["n_undecided"] == 1 and 'name="session"' not in page.content.decode()


def test_a_flag_leaves_pay_alone(client, study):
    session = cast.sit(study)
    client.force_login(cast.ada())
    decide(client, session, "approve")
    client.post(f"{ADDRESS}{session.participant.pk}/flag/", {"reason": "not reading"})
    assert pay_of(client) == "approved"


def test_the_same_bonus_form_sent_twice_is_one_bonus_and_another_form_another(client, study):
    session = cast.sit(study)
    client.force_login(cast.ada())
    for key in ("a", "a", "b"):
        decide(client, session, "bonus", amount="0,25", reason="thorough", key=key)
    assert [row.amount_minor for row in Payment.objects.all()] == [25, 25]


@pytest.mark.parametrize("amount", ["", "-1", "0", "1.555", "lots", "999999999"])
def test_a_senseless_amount_is_refused(client, study, amount):
    session = cast.sit(study)
    client.force_login(cast.ada())
    assert "amount" in decide(client, session, "approve", amount=amount).content.decode()
    assert not Payment.objects.exists()


def test_all_complete_and_undecided_sessions_are_approved_at_once_and_no_others(client, study):
    sessions = [cast.sit(study, name) for name in ("pia", "quentin", "rosa")]
    cast.sit(study, "sam", n=1)
    client.force_login(cast.ada())
    decide(client, sessions[0], "not_paid", reason="agreed so")
    for _ in range(2):
        client.post(f"{ADDRESS}approve/", {"which": "all"})
    assert {row.session_id for row in Payment.objects.filter(kind="reward")} == {
        session.pk for session in sessions[1:]
    }


def test_only_the_ticked_are_approved(client, study):
    first, _ = cast.sit(study, "pia"), cast.sit(study, "quentin")
    client.force_login(cast.ada())
    assert "no session is selected" in client.post(f"{ADDRESS}approve/", follow=True).content.decode().lower()
    client.post(f"{ADDRESS}approve/", {"which": "ticked", "session": [first.pk, "x"]})
    assert Payment.objects.get().session == first


def test_without_a_stated_pay_many_cannot_be_approved(client):
    cast.sit(cast.study("agreement"))
    client.force_login(cast.ada())
    page = client.post(f"{ADDRESS}approve/", {"which": "all"}, follow=True).content.decode()
    assert "has no pay per session" in page and not Payment.objects.exists()


def test_who_withdrew_after_the_end_is_still_to_be_paid(client, study):
    session = cast.sit(study)
    client.post(f"/s/{session.token}/withdraw/")
    client.force_login(cast.ada())
    assert pay_of(client, "?pay=undecided") == "undecided"
    client.post(f"{ADDRESS}approve/", {"which": "all"})
    assert pay_of(client, "?pay=approved") == "approved"


def test_people_are_found_by_their_state_of_pay(client, study):
    session = cast.sit(study)
    client.force_login(cast.ada())
    decide(client, session, "approve")
    assert not client.get(f"{ADDRESS}?pay=undecided").context["participants"]
    assert len(client.get(f"{ADDRESS}?pay=approved").context["participants"]) == 1


def test_an_unfinished_session_may_be_paid_manually(client, study):
    session = cast.sit(study, n=1)
    Session.objects.update(lease_expires_at=session.started_at)
    expire_sessions()
    client.force_login(cast.ada())
    decide(client, session, "approve", amount="0.50")
    assert Payment.objects.get().amount_minor == 50


def test_viewers_read_and_do_not_decide_and_strangers_find_nothing(client, study):
    session = cast.sit(study)
    client.force_login(cast.ben())
    page = client.get(ADDRESS).content.decode()
    assert "Decide" not in page and "undecided" in page
    assert decide(client, session, "approve").status_code == 403
    assert client.post(f"{ADDRESS}approve/", {"which": "all"}).status_code == 403
    client.force_login(cast.cleo())
    assert decide(client, session, "approve").status_code == 404


def test_the_page_states_that_failed_catch_trials_are_no_ground_for_refusing_pay(client, study):
    client.force_login(cast.ben())
    assert "they are no reason to refuse pay" in " ".join(client.get(ADDRESS).content.decode().split())


def test_synthetic_participants_and_previews_are_never_up_for_pay(client, study):
    session = cast.sit(study)
    session.participant.is_simulated = True
    session.participant.save()
    client.force_login(cast.ada())
    page = client.get(ADDRESS)
    assert page.context["n_undecided"] == 0 and 'name="session"' not in page.content.decode()
    client.post(f"{ADDRESS}approve/", {"which": "all"})
    assert not Payment.objects.exists()


def test_pay_for_a_screened_out_session_is_called_so(client):
    question = {"name": "dutch", "label": "Dutch?", "type": "yes_no", "screen_out": ["no"]}
    session = cast.begin(cast.study("agreement", questionnaire=[question]))
    client.post(f"/s/{session.token}/questions/", {"dutch": "no"})
    client.force_login(cast.ada())
    decide(client, session, "approve", amount="0.20")
    assert Payment.objects.get().kind == "screen_out"
    assert pay_of(client) == "approved"


def test_every_door_refuses_what_the_lab_does_not_pay(ada):
    lab = cast.lab(ada="manager")
    study = cast.study("limited", lab=lab, reward_minor=300)
    session = cast.sit(study)
    address = f"/labs/{lab.slug}/payment-limits/"
    assert ada.post(address, {"limits": "2"}).status_code == 422
    assert ada.post(address, {"limits": "2.00 GBP, 3 usd"}).status_code == 302
    lab.refresh_from_db()
    assert lab.payment_limits == {"GBP": 200, "USD": 300}
    assert "2.00 GBP, 3.00 USD" in ada.get(f"/labs/{lab.slug}/").content.decode()

    def pay(**values):
        values = {"amount": "2.01", "currency": "GBP", "reason": "x", "key": "k", **values}
        return ada.post(f"/studies/limited/sessions/{session.pk}/pay/", values, follow=True).content.decode()

    many = {"participant": session.participant.pk, "reason": "x", "amount": "2.01", "key": "k"}
    page = "/studies/limited/participants"
    refusals = [
        pay(decision="approve"),
        pay(decision="bonus"),
        ada.post(f"{page}/approve/", {"which": "all"}, follow=True).content.decode(),
        *(
            ada.post(f"{page}/decide/", {**many, "action": action}, follow=True).content.decode()
            for action in ("approve", "bonus")
        ),
    ]
    assert all("is more than the lab Syntax lab allows" in page for page in refusals), refusals
    assert "does not pay in EUR" in pay(decision="bonus", amount="1", currency="EUR")
    cast.draft("draft", lab=lab)
    for values in ({"reward_minor": 201}, {"reward_minor": 5, "currency": "EUR"}, {"reward_minor": 10**18}):
        answer = ada.patch("/api/v1/studies/draft/", values, content_type="application/json")
        assert answer.status_code in {400, 422}, (values, answer.content)
    with pytest.raises(BadInput, match="more than the lab"):
        campaigns.create_draft(study, recruiter="direct", name="c", by=cast.ada(), reward_minor=201)
    elsewhere = cast.study("elsewhere", reward_minor=201)
    ada.post("/studies/elsewhere/team/lab/", {"lab": lab.slug})
    elsewhere.refresh_from_db()
    assert elsewhere.lab is None and not Payment.objects.exists()
    assert "2.00 GBP" in pay(decision="approve", amount="2.00") and Payment.objects.count() == 1
