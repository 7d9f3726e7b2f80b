"""The start page: the door for strangers, a card per study for researchers."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Experiment, Job
from experiments.page_cache import cache
from judgments.flags import raise_flag
from judgments.models import Judgment, Session
from judgments.monitoring.overview import by_activity, study_cards
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_numbers():
    """No numbers of another test."""
    cache.clear()


def cards_of(user):
    return study_cards(list(by_activity(Experiment.objects.visible_to(user))))


def card(user):
    (study_card,) = cards_of(user)
    return study_card


def words(study_card):
    return [remark.text for remark in study_card.remarks]


def test_stranger_sees_the_door_and_no_study(client):
    cast.study("islands", title="Secret islands")
    page = client.get("/").content.decode()
    assert "Log in" in page
    assert "Secret islands" not in page


def test_stranger_is_led_to_the_demo_only_while_it_is_open(client):
    demo = cast.study("demo")
    assert "/take/demo/" in client.get("/").content.decode()
    demo.status = Experiment.Status.CLOSED
    demo.save()
    assert "/take/demo/" not in client.get("/").content.decode()


def test_researcher_sees_cards_with_people_and_judgments(client):
    study = cast.study("agreement")
    session = cast.sit(study)
    client.force_login(cast.ada())
    page = client.get("/").content.decode()
    assert "Study agreement" in page
    assert f"<dt>Judgments</dt><dd>{session.trials.count()}</dd>" in page


def test_member_of_nothing_is_taught_the_first_steps(client):
    cast.study("agreement")
    client.force_login(cast.cleo())
    page = client.get("/").content.decode()
    assert "Your first study in three steps" in page
    assert "Study agreement" not in page


def test_card_shows_progress_towards_the_target_and_the_last_answer(client):
    study = cast.study("agreement", n_lists=2, target_judgments=8)
    cast.sit(study, "pia")
    cast.sit(study, "quentin", n=1)
    study_card = card(cast.ada())
    assert (
        study_card.n_complete,
        study_card.n_live,
        study_card.target,
        study_card.complete,
        study_card.live,
    ) == (1, 1, 8, 12.5, 12.5)
    assert study_card.last_at == Judgment.objects.latest("received_at").received_at
    client.force_login(cast.ada())
    text = re.sub(r"<[^>]+>|\s+", " ", client.get("/").content.decode())
    assert re.search(r"1\s+of 8 complete\s+·\s+1\s+in session now", text)


def test_a_study_that_has_reached_its_target_is_open_and_full(client):
    study = cast.study("agreement", n_lists=2, target_judgments=2)
    client.force_login(cast.ada())
    cast.sit(study, "pia")
    for page in ("/", "/studies/agreement/", "/studies/agreement/live/"):
        assert "open, full" not in client.get(page).content.decode(), page
    cast.sit(study, "quentin")
    cache.clear()
    for page in ("/", "/studies/agreement/", "/studies/agreement/live/"):
        assert "open, full</span>" in client.get(page).content.decode(), page


def test_card_counts_neither_pilots_nor_refusals():
    study = cast.study("agreement")
    cast.sit(study, "pia")
    Session.objects.update(is_test=True)
    cast.begin(study, "quentin")
    Session.objects.filter(is_test=False).update(status=Session.Status.REFUSED)
    study_card = card(cast.ada())
    assert (study_card.n_complete, study_card.n_live, study_card.n_judgments, study_card.last_at) == (
        0,
        0,
        0,
        None,
    )


def test_draft_leads_to_its_checklist(client):
    cast.draft("agreement")
    client.force_login(cast.ada())
    assert 'href="/studies/agreement/launch/"' in client.get("/").content.decode()


def test_card_warns_of_silence_and_of_taken_places():
    study = cast.study("agreement", max_participants=1)
    assert words(card(cast.ada())) == []
    Experiment.objects.update(opened_at=timezone.now() - timedelta(days=5))
    assert words(card(cast.ada())) == ["No answer for 5 days"]
    cast.sit(study, "pia")
    assert words(card(cast.ada())) == ["All places are taken"]


def test_card_warns_when_a_quarter_leaves_of_ten_at_least():
    study = cast.study("agreement", n_lists=2)
    for number in range(10):
        cast.begin(study, f"p{number}")
    session_ids = Session.objects.order_by("pk")[:3].values_list("pk", flat=True)
    Session.objects.filter(pk__in=list(session_ids)).update(status=Session.Status.WITHDRAWN)
    assert words(card(cast.ada())) == ["30 % left before the end"]
    Experiment.objects.update(status="closed")  # nobody can mend it any more
    assert words(card(cast.ada())) == []
    Experiment.objects.update(status="open")
    assert words(card(cast.ada())) == ["30 % left before the end"]
    Session.objects.order_by("pk").last().delete()
    assert words(card(cast.ada())) == []


def test_card_leads_to_a_failed_job_until_a_later_one_is_done(client):
    study = cast.study("agreement")
    failed = Job.objects.create(kind="releases.build", experiment=study, state=Job.State.FAILED)
    client.force_login(cast.ada())
    page = client.get("/").content.decode()
    assert "The last job failed" in page and f'href="/jobs/{failed.pk}/"' in page
    Job.objects.create(kind="releases.build", experiment=study, state=Job.State.DONE)
    assert words(card(cast.ada())) == []


def test_card_counts_flagged_people_once_and_forgets_lifted_flags():
    study = cast.study("agreement")
    person = cast.sit(study, "pia").participant
    flag = raise_flag(person, "answers by a program", by=cast.ada())
    raise_flag(person, "wrote to us", by=cast.ada())
    assert words(card(cast.ada())) == ["1 participant flagged"]
    person.flags.update(lifted_at=timezone.now())
    assert flag.pk and words(card(cast.ada())) == []


def test_study_with_the_newest_answer_is_first():
    older = cast.study("older")
    cast.study("newer")
    assert [card.study.slug for card in cards_of(cast.ada())] == ["newer", "older"]
    cast.sit(older, "pia")
    assert [card.study.slug for card in cards_of(cast.ada())] == ["older", "newer"]


def test_many_studies_ask_few_questions_each(django_assert_max_num_queries):
    for number in range(6):
        cast.study(f"study-{number}")
    cards_of(cast.ada())
    with django_assert_max_num_queries(8):  # counted a moment ago: nothing is asked study by study
        cards_of(cast.ada())
