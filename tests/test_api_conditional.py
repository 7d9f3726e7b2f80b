"""ETags of the API: what has not changed is 304, and what names people is never stored."""

import pytest

from tests import api, cast

pytestmark = pytest.mark.django_db


def test_an_answer_that_has_not_changed_is_304_until_it_changes():
    study = cast.draft("agreement")
    for path in ("studies/", "studies/agreement/", "studies/agreement/checklist/"):
        first = api.send("get", path)
        assert first["Cache-Control"] == "private, no-cache" and "Authorization" in first["Vary"]
        again = api.send("get", path, **{"If-None-Match": first["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
        assert again["Cache-Control"] == "private, no-cache"
    study.title = "Another"
    study.save()
    changed = api.send("get", "studies/agreement/", **{"If-None-Match": first["ETag"]})
    assert changed.status_code == 200 and changed.json()["title"] == "Another"


def test_answers_about_people_and_those_to_a_login_are_not_stored(client):
    cast.sit(cast.study())
    people = ("participants/", "judgments/", "payments/", "team/", "invitations/", "campaigns/")
    for path in people:
        answer = api.send("get", f"studies/agreement/{path}")
        assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store"), path
        assert "ETag" not in answer, path
    client.force_login(cast.ada())
    answer = client.get("/api/v1/studies/agreement/")
    assert answer["Cache-Control"] == "no-store" and "ETag" not in answer
