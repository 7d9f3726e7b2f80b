"""A participant deletes the answers, before or after the end; pay and code stay, the place is free."""

import pytest

from experiments.models import AuditEntry
from judgments.frames.build import judgment_frame, participant_frame
from judgments.models import Flag, Judgment, PlatformIdentity, Session, Tombstone, Trial
from judgments.sessions.enrollment import arrive
from judgments.sessions.leases import SessionOver
from judgments.sessions.places import filled_counts
from judgments.sessions.removal import ON_REQUEST, erase
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return cast.study("agreement")


def test_a_finished_participant_deletes_the_answers_and_keeps_the_code(client, study):
    session = cast.sit(study)
    code, n_judgments = session.completion_code, Judgment.objects.count()
    end = client.get(f"/s/{session.token}/").content.decode()
    assert f"/s/{session.token}/withdraw/" in end
    ask = client.get(f"/s/{session.token}/withdraw/").content.decode()
    assert "Your pay does not change" in ask
    assert Judgment.objects.count() == n_judgments
    for _ in range(2):
        assert client.post(f"/s/{session.token}/withdraw/").status_code == 302
    page = client.get(f"/s/{session.token}/").content.decode()
    assert "Your answers are deleted" in page and code in page
    assert not Judgment.objects.exists() and not Trial.objects.exists()
    stone = Tombstone.objects.get()
    assert (stone.n_sessions, stone.n_judgments) == (1, n_judgments)
    assert AuditEntry.objects.filter(action="answers deleted").count() == 1


def test_notes_about_the_participant_are_deleted_too_and_the_frame_is_empty(client, study):
    session = cast.sit(study)
    person = session.participant
    person.background, person.is_native = {"age": 31}, True
    person.save()
    Flag.objects.create(participant=person, reason="sat beside a friend")
    client.post(f"/s/{session.token}/withdraw/")
    person.refresh_from_db()
    assert person.background == {} and person.is_native is None and not person.flags.exists()
    assert judgment_frame(study).empty
    assert participant_frame(study)["background"].tolist() == [{}]


def test_the_place_is_free_again(client, study):
    session = cast.sit(study, n=1)
    lists = [session.list_id]
    assert filled_counts(lists, is_test=False) == {session.list_id: 1}
    client.post(f"/s/{session.token}/withdraw/")
    assert filled_counts(lists, is_test=False) == {session.list_id: 0}


def test_withdrawing_midway_gives_no_code_and_stores_nothing_more(client, study):
    session = cast.sit(study, n=1)
    trial = session.trials.filter(judgment__isnull=True).first()
    assert "there will be no completion code" in client.get(f"/s/{session.token}/withdraw/").content.decode()
    client.post(f"/s/{session.token}/withdraw/")
    with pytest.raises((SessionOver, cast.UnknownTrial)):
        cast.record(Session.objects.get(), trial.public_id, cast.answer_to(trial))
    assert client.post(f"/s/{session.token}/trials/{trial.public_id}/", {"response": "1"}).status_code == 404
    assert "no completion code" not in client.get(f"/s/{session.token}/").content.decode()


def test_who_withdrew_finds_no_new_session_under_the_same_name(client, study):
    session = cast.sit(study, external_id="label-1", is_verified=True)
    client.post(f"/s/{session.token}/withdraw/")
    signed = cast.arrival("phone", external_id="label-1", is_verified=True)
    returned = arrive(study, signed, consent_text="x")
    assert returned.pk == session.pk and not returned.trials.exists()


def test_a_researcher_erases_on_request_and_forgets_the_platforms_id(study):
    session = cast.sit(study, external_id="label-1")
    assert erase(session.participant, reason=ON_REQUEST, by=cast.ada(), delete_identity=True) > 0
    assert not PlatformIdentity.objects.exists()
    entry = AuditEntry.objects.get(action="answers deleted")
    assert entry.user == cast.ada() and entry.details["participant"] == session.participant.pseudonym


def test_who_only_stopped_may_still_delete(client, study):
    session = cast.sit(study, n=1)
    client.post(f"/s/{session.token}/leave/")
    assert f"/s/{session.token}/withdraw/" in client.get(f"/s/{session.token}/").content.decode()
    client.post(f"/s/{session.token}/withdraw/")
    assert not Judgment.objects.exists()
