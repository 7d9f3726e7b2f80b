"""Quotas: at most so many people with an answer of the questionnaire; who comes later is returned."""

import pytest
from django.test import Client

from judgments.models import Session, SessionEvent
from judgments.recruitment.quotas import Quota
from tests import cast
from tests.judgments.screens.walk import consent

pytestmark = pytest.mark.django_db
QUESTIONS = [
    {"name": "age", "label": "How old are you?", "type": "number"},
    {"name": "dialect", "label": "Where did you grow up?", "type": "choice", "choices": ["North", "South"]},
]


def study(**fields):
    return cast.study("agreement", questionnaire=QUESTIONS, **fields)


def joins(**answers):
    """Somebody who answers the questionnaire; their browser and session."""
    client = Client()
    address = consent(client, "/take/agreement/")
    client.post(f"{address}questions/", answers)
    return client, Session.objects.get(token=address.split("/")[2])


def test_the_first_person_beyond_a_quota_is_thanked_before_the_first_trial():
    study(quotas=[{"question": "dialect", "answer": "North", "limit": 2}])
    for _ in range(2):
        assert joins(age=30, dialect="North")[1].status == "active"
    late, session = joins(age=30, dialect="North")
    assert session.status == "screened_out"
    page = late.get(f"/s/{session.token}/").content.decode()
    assert "Sorry, this study is full" in page and "does not fit you" not in page
    event = SessionEvent.objects.get(kind="over_quota")
    assert event.details == {"question": "dialect", "answer": "North", "limit": 2}
    assert joins(age=30, dialect="South")[1].status == "active"


def test_a_place_that_is_given_back_is_free_again():
    study(quotas=[{"question": "age", "answer": "18-29", "limit": 1}])
    first, session = joins(age=29, dialect="North")
    assert joins(age=18, dialect="North")[1].status == "screened_out"
    assert joins(age=30, dialect="North")[1].status == "active"
    first.post(f"/s/{session.token}/leave/")
    assert joins(age=18, dialect="North")[1].status == "active"


def test_every_quota_that_an_answer_falls_under_counts():
    study(
        quotas=[
            {"question": "age", "answer": "18-29", "limit": 5},
            {"question": "dialect", "answer": "North", "limit": 0},
        ]
    )
    assert joins(age=20, dialect="North")[1].status == "screened_out"
    assert joins(age=20, dialect="South")[1].status == "active"


def test_answers_sent_twice_are_counted_once():
    study(quotas=[{"question": "dialect", "answer": "North", "limit": 1}])
    client, session = joins(age=30, dialect="North")
    client.post(f"/s/{session.token}/questions/", {"age": 30, "dialect": "North"})
    session.refresh_from_db()
    assert session.status == "active"


def test_who_passed_stays_when_the_quota_is_lowered_and_the_form_comes_again():
    experiment = study(quotas=[{"question": "dialect", "answer": "North", "limit": 2}])
    client, session = joins(age=30, dialect="North")
    joins(age=30, dialect="North")
    experiment.quotas = [{"question": "dialect", "answer": "North", "limit": 1}]
    experiment.save()
    client.post(f"/s/{session.token}/questions/", {"age": 30, "dialect": "North"})
    session.refresh_from_db()
    assert session.status == "active"


@pytest.mark.parametrize(
    ("answer", "background", "is_counted"),
    [
        ("18-29", {"q": 18}, True),
        ("18–29", {"q": 29}, True),
        ("18 to 29", {"q": 30}, False),
        ("18-29", {"q": "18-29"}, False),
        ("north", {"q": "North "}, True),
        ("North", {"q": ["South", "North"]}, True),
        ("7", {"q": 7}, True),
        ("North", {}, False),
    ],
)
def test_whom_a_quota_counts(answer, background, is_counted):
    assert Quota("q", answer, 1).admits(background) is is_counted


def rows(*quotas, version, total=3):
    fields = {"quota-TOTAL_FORMS": total, "quota-INITIAL_FORMS": 0, "version": version}
    for place, (question, answer, limit) in enumerate(quotas):
        fields |= {
            f"quota-{place}-question": question,
            f"quota-{place}-answer": answer,
            f"quota-{place}-limit": limit,
        }
    return fields


def test_quotas_are_set_on_the_page_with_live_counts(ada):
    experiment = study()
    page = ada.get("/studies/agreement/channels/")
    sent = rows(("age", "18-29", 1), ("dialect", "South", 4), version=page.context["quota_version"])
    assert ada.post("/studies/agreement/channels/quotas/", sent).status_code == 302
    joins(age=20, dialect="South")
    counts = [
        (count.n, count.is_full) for count in ada.get("/studies/agreement/channels/").context["quota_counts"]
    ]
    assert counts == [(1, True), (1, False)]
    experiment.refresh_from_db()
    assert experiment.quotas[0] == {"question": "age", "answer": "18-29", "limit": 1}
    ada.post("/studies/agreement/channels/quotas/", rows(version=page.context["quota_version"]))
    experiment.refresh_from_db()
    assert len(experiment.quotas) == 2  # the page was older than the quotas: nothing is overwritten


@pytest.mark.parametrize(
    ("quota", "words"),
    [
        (("age", "young", 3), "is no number"),
        (("age", "29-18", 3), "ends before it begins"),
        (("dialect", "West", 3), "Its answers are North, South"),
        (("dialect", "", 3), "Give the answer and the number"),
    ],
)
def test_a_quota_that_cannot_be_filled_is_refused(ada, quota, words):
    experiment = study()
    version = ada.get("/studies/agreement/channels/").context["quota_version"]
    page = ada.post("/studies/agreement/channels/quotas/", rows(quota, version=version))
    assert page.status_code == 422 and words in page.content.decode()
    experiment.refresh_from_db()
    assert experiment.quotas == []
