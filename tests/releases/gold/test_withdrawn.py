"""A frozen release stays and says what was taken back since; the next one is built without it."""

import json

import pytest

from judgments.models import Participant
from judgments.sessions.removal import BY_PARTICIPANT, erase
from releases.gold import storage
from releases.gold.plans import write_mask, write_plan
from releases.jobs import study_signals
from releases.reports.compute import filtered_judgments
from tests import cast
from tests.releases.study import judged_study, ready_release, scored

pytestmark = pytest.mark.django_db


def manifest(release):
    return json.loads(storage.read(release.storage_key, "manifest.json"))


def test_a_release_states_later_withdrawals_and_the_next_counts_them(client):
    study = judged_study()
    first = ready_release(study)
    assert manifest(first)["withdrawn"] == {"sessions": 0, "judgments": 0}
    n = erase(Participant.objects.first(), reason=BY_PARTICIPANT)
    client.force_login(cast.ada())
    page = client.get(f"/studies/{study.slug}/releases/{first.number}/").content.decode()
    assert "A frozen release never changes" in page
    withdrawn = client.get(f"/api/v1/studies/{study.slug}/releases/{first.number}/").json()["withdrawn_since"]
    assert withdrawn == {"sessions": 1, "judgments": n}
    second = ready_release(study)
    assert manifest(second)["withdrawn"] == {"sessions": 1, "judgments": n}
    before, after = (manifest(release)["counts"]["participants"] for release in (first, second))
    assert after == before - 1
    assert (
        "A frozen release"
        not in client.get(f"/studies/{study.slug}/releases/{second.number}/").content.decode()
    )


def test_judgments_over_the_api_are_without_those_who_withdrew(client):
    study = judged_study()
    person = Participant.objects.first()
    erase(person, reason=BY_PARTICIPANT)
    client.force_login(cast.ada())
    assert (
        person.pseudonym not in client.get(f"/api/v1/studies/{study.slug}/judgments.csv").getvalue().decode()
    )


def test_a_stored_plan_with_a_signal_writes_its_mask():
    study = judged_study()
    steps = [{"name": "robots", "scope": "session", "rule": "signal:untrusted"}]
    row = write_plan(study, "robots", steps=steps)
    assert row.steps[0]["parameters"] == {"version": 1}
    assert write_mask(row, filtered_judgments(study, exclude="robots").excluded) == 0


def test_scores_of_a_done_run_take_part_in_the_signals():
    study = judged_study()
    scored(study, "bright")
    assert list(study_signals(study)) == ["session", "participant", "signal", "version", "value", "reason"]
