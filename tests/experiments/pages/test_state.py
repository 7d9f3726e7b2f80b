"""Opening, pausing and closing by button."""

import pytest

from experiments.models import Experiment
from tests import cast

pytestmark = pytest.mark.django_db


def press(client, step, slug="agreement"):
    return client.post(f"/studies/{slug}/move/{step}/", follow=True).content.decode()


def test_buttons_take_a_study_through_its_life(client):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    for step, status in [("pilot", "pilot"), ("open", "open"), ("pause", "paused"), ("open", "open")]:
        page = press(client, step)
        study.refresh_from_db()
        assert study.status == status
        notice = "The pilot has begun" if step == "pilot" else f"The study is now {status}"
        assert notice in page
    assert study.versions.count() == 1


def test_missing_parts_are_reported_and_the_study_stays_a_draft(client):
    cast.draft("agreement", consent="", instructions="")
    client.force_login(cast.ada())
    page = press(client, "open")
    assert "no consent text" in page and "no instructions" in page
    assert Experiment.objects.get().status == "draft"


def test_a_change_after_opening_makes_the_next_version_by_button(client):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    press(client, "open")
    Experiment.objects.update(instructions="Read slowly.")
    assert "Make version 2" in client.get("/studies/agreement/settings/").content.decode()
    press(client, "open")
    assert study.versions.count() == 2
    assert "Make version" not in client.get("/studies/agreement/settings/").content.decode()


def test_buttons_are_for_editors_and_need_a_post(client):
    cast.draft("agreement")
    client.force_login(cast.ben())
    assert client.post("/studies/agreement/move/open/").status_code == 403
    client.force_login(cast.cleo())
    assert client.post("/studies/agreement/move/open/").status_code == 404
    client.force_login(cast.ada())
    assert client.get("/studies/agreement/move/open/").status_code == 405
    assert client.post("/studies/agreement/move/explode/").status_code == 404


def test_closing_asks_first_and_is_for_good(client):
    study = cast.study("agreement")
    client.force_login(cast.ada())
    assert "Close permanently" in press(client, "close")
    study.refresh_from_db()
    assert study.status == "open"
    client.post("/studies/agreement/move/close/", {"sure": "yes"})
    study.refresh_from_db()
    assert study.status == "closed"
    assert "A closed study stays closed" in press(client, "open")


def test_a_viewer_reads_that_an_editor_makes_the_next_version(client):
    study = cast.study("agreement")
    study.debrief = "Another one."
    study.save(update_fields=["debrief"])
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/settings/").content.decode()
    assert (
        "An editor of the study can make version 2" in page and "You may read this and not change it" in page
    )
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/settings/").content.decode()
    assert "Make version 2 of them" in page and "not change it" not in page
