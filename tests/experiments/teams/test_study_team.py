"""The team of a study: owners decide, and there is always one."""

import pytest

from experiments.models import AuditEntry, Membership
from tests import cast

pytestmark = pytest.mark.django_db


def roles(study):
    return dict(study.memberships.values_list("user__username", "role"))


def test_owner_adds_a_member_and_changes_a_role(client):
    study = cast.draft("agreement")
    cast.cleo()
    client.force_login(cast.ada())
    client.post("/studies/agreement/team/", {"username": "cleo", "role": "viewer"})
    client.post("/studies/agreement/team/", {"username": "cleo", "role": "editor"})
    assert roles(study) == {"ada": "owner", "ben": "viewer", "cleo": "editor"}
    assert AuditEntry.objects.filter(action="member added").count() == 2


def test_unknown_name_is_explained(client):
    cast.draft("agreement")
    client.force_login(cast.ada())
    page = client.post("/studies/agreement/team/", {"username": "nobody", "role": "viewer"})
    assert "There is no user" in page.content.decode()


def test_last_owner_can_neither_leave_nor_step_down(client):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    membership = study.memberships.get(user=cast.ada())
    page = client.post(f"/studies/agreement/team/{membership.pk}/remove/", follow=True).content.decode()
    assert "A study keeps at least one owner" in page
    client.post("/studies/agreement/team/", {"username": "ada", "role": "viewer"})
    assert roles(study)["ada"] == "owner"


def test_editor_can_leave_but_not_change_other_members(client):
    study = cast.draft("agreement")
    member = Membership.objects.create(experiment=study, user=cast.cleo(), role="editor")
    client.force_login(cast.cleo())
    ben = study.memberships.get(user=cast.ben())
    assert client.post(f"/studies/agreement/team/{ben.pk}/remove/").status_code == 403
    assert client.post("/studies/agreement/team/", {"username": "ben", "role": "owner"}).status_code == 403
    leaving = f"/studies/agreement/team/{member.pk}/remove/"
    assert "Only an owner can let you in again" in client.post(leaving).content.decode()
    assert roles(study)["cleo"] == "editor"
    assert client.post(leaving, {"sure": "yes"}).url == "/"
    assert roles(study) == {"ada": "owner", "ben": "viewer"}


def test_member_of_another_study_cannot_be_removed_through_this_one(client):
    cast.draft("agreement")
    other = cast.draft("other")
    client.force_login(cast.ada())
    ben = other.memberships.get(user=cast.ben())
    assert client.post(f"/studies/agreement/team/{ben.pk}/remove/").status_code == 404
    assert "ben" in roles(other)


def test_stranger_finds_no_team(client):
    cast.draft("agreement")
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/team/").status_code == 404
    client.logout()
    assert client.get("/studies/agreement/team/").status_code == 302
