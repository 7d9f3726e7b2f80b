"""Labs: roles in a lab are roles in its studies, and a lab keeps a manager."""

import pytest

from experiments.models import AuditEntry, Experiment, Lab, LabMembership, MaterialSet
from experiments.teams.roles import may_edit, may_see_ids, role_in
from tests import cast

pytestmark = pytest.mark.django_db
LAB = "/labs/syntax-lab/"


@pytest.fixture
def lab():
    return cast.lab(ada="manager", dora="manager", emil="editor", vera="viewer")


@pytest.fixture
def study(lab):
    row = cast.study("agreement")
    row.lab = lab
    row.save(update_fields=["lab"])
    return row


def roles(lab):
    return dict(lab.memberships.values_list("user__username", "role"))


def test_a_researcher_creates_a_lab_and_adds_members(client):
    cast.cleo()
    client.force_login(cast.ada())
    assert client.post("/labs/", {"name": "Syntax lab"}).url == LAB
    client.post(LAB, {"username": "cleo", "role": "viewer"})
    client.post(LAB, {"username": "cleo", "role": "editor"})
    assert roles(Lab.objects.get()) == {"ada": "manager", "cleo": "editor"}
    entry = AuditEntry.objects.filter(action="member added").first()
    assert entry.details["values"] == {"role of cleo": {"old": "viewer", "new": "editor"}}
    page = client.get("/labs/").content.decode()
    assert "Syntax lab" in page and "manager" in page


def test_two_labs_of_one_name_have_two_addresses(client):
    client.force_login(cast.ada())
    assert [client.post("/labs/", {"name": "Labs"}).url for _ in range(2)] == ["/labs/labs/", "/labs/labs-2/"]


@pytest.mark.parametrize(
    ("name", "role", "edits"), [("dora", "owner", True), ("emil", "editor", True), ("vera", "viewer", False)]
)
def test_a_role_in_the_lab_is_a_role_in_its_studies(client, study, name, role, edits):
    member = cast.user(name)
    assert (role_in(member, study), may_edit(member, study), may_see_ids(member, study)) == (
        role,
        edits,
        edits,
    )
    assert list(Experiment.objects.visible_to(member)) == [study]
    assert list(Experiment.objects.editable_by(member)) == ([study] if edits else [])
    assert list(MaterialSet.objects.visible_to(member)) == [study.materials]
    client.force_login(member)
    assert client.get("/studies/agreement/").status_code == 200
    assert "Study agreement" in client.get("/").content.decode()
    assert client.post("/studies/agreement/move/pause/").status_code == (302 if edits else 403)
    assert client.get("/studies/agreement/delete/").status_code == (200 if role == "owner" else 403)


def test_the_higher_of_two_roles_counts(study):
    study.memberships.create(user=cast.user("vera"), role="editor")
    study.memberships.create(user=cast.user("dora"), role="viewer")
    assert (role_in(cast.user("vera"), study), role_in(cast.user("dora"), study)) == ("editor", "owner")


def test_members_of_another_lab_find_nothing(client, study):
    cast.lab("Phonetics lab", cleo="manager")
    client.force_login(cast.cleo())
    assert client.get(LAB).status_code == client.get("/studies/agreement/").status_code == 404
    assert not Experiment.objects.visible_to(cast.cleo()).exists()
    assert client.post("/studies/agreement/team/lab/", {"lab": "phonetics-lab"}).status_code == 404


@pytest.mark.parametrize("name", ["emil", "vera"])
def test_only_managers_change_the_lab(client, lab, name):
    client.force_login(cast.user(name))
    ada = lab.memberships.get(user=cast.ada())
    for path, data in (
        ("", {"username": name, "role": "manager"}),
        ("name/", {"name": "Mine"}),
        ("delete/", {"sure": "yes"}),
        (f"members/{ada.pk}/remove/", {"sure": "yes"}),
    ):
        assert client.post(LAB + path, data).status_code == 403
    assert roles(lab) == {"ada": "manager", "dora": "manager", "emil": "editor", "vera": "viewer"}
    page = client.get(LAB).content.decode()
    assert page.count("<form") == 2 and "Leave this lab" in page  # log out, leave


def test_the_last_manager_can_neither_leave_nor_step_down(client, lab):
    client.force_login(cast.ada())
    ada, dora = lab.memberships.get(user=cast.ada()), lab.memberships.get(user=cast.user("dora"))
    client.post(f"{LAB}members/{dora.pk}/remove/")
    page = client.post(f"{LAB}members/{ada.pk}/remove/", {"sure": "yes"}, follow=True).content.decode()
    assert "A lab keeps at least one manager" in page
    assert "A lab keeps" in client.post(LAB, {"username": "ada", "role": "viewer"}).content.decode()
    assert roles(lab)["ada"] == "manager"


def test_a_member_leaves_and_loses_the_studies(client, lab, study):
    vera = cast.user("vera")
    client.force_login(vera)
    leaving = f"{LAB}members/{lab.memberships.get(user=vera).pk}/remove/"
    assert "You will not see its studies any more" in client.post(leaving).content.decode()
    assert client.post(leaving, {"sure": "yes"}).url == "/labs/"
    assert client.get("/studies/agreement/").status_code == 404


def test_a_member_of_another_lab_is_not_removed_through_this_one(client, lab):
    other = cast.lab("Phonetics lab", cleo="manager")
    client.force_login(cast.ada())
    assert client.post(f"{LAB}members/{other.memberships.get().pk}/remove/").status_code == 404
    assert roles(other) == {"cleo": "manager"}


def test_an_owner_moves_a_study_in_and_out(client, lab):
    study = cast.study("agreement")
    client.force_login(cast.ada())
    address = "/studies/agreement/team/lab/"
    client.post(address, {"lab": "syntax-lab"})
    study.refresh_from_db()
    assert study.lab == lab and role_in(cast.user("emil"), study) == "editor"
    assert "Move Study agreement out of Syntax lab?" in client.post(address, {"lab": ""}).content.decode()
    client.post(address, {"lab": "", "sure": "yes"})
    study.refresh_from_db()
    assert study.lab is None and role_in(cast.user("emil"), study) is None
    changes = [entry.details["values"]["lab"] for entry in study.audit.filter(action__contains="lab")]
    assert changes == [{"old": "Syntax lab", "new": ""}, {"old": "", "new": "Syntax lab"}]
    assert set(lab.audit.values_list("action", flat=True)) == {"study moved in", "study moved out"}


def test_a_study_is_moved_only_by_its_owners_and_into_labs_where_they_may_add(client, study):
    cast.lab("Phonetics lab", ada="viewer")
    address, inside = "/studies/agreement/team/lab/", {"lab": "phonetics-lab", "sure": "yes"}
    client.force_login(cast.ada())
    assert client.post(address, inside).status_code == 403
    for name in ("emil", "vera"):
        client.force_login(cast.user(name))
        assert client.post(address, {"lab": "", "sure": "yes"}).status_code == 403
    study.refresh_from_db()
    assert study.lab.name == "Syntax lab"


def test_a_copy_belongs_to_no_lab(client, study):
    client.force_login(cast.user("vera"))
    client.post("/studies/agreement/copy/")
    assert Experiment.objects.get(owner=cast.user("vera")).lab is None


def test_a_study_begins_in_a_lab_where_its_author_may_add(client, lab):
    fields = {"title": "New", "task": "likert", "language": "en", "lab": "syntax-lab"}
    client.force_login(cast.user("emil"))
    assert 'name="lab"' in client.get("/studies/new/?lab=syntax-lab").content.decode()
    client.post("/studies/new/", fields)
    assert Experiment.objects.get().lab == lab
    assert lab.audit.get().action == "study created"
    client.force_login(cast.user("vera"))
    assert 'name="lab"' not in client.get("/studies/new/").content.decode()
    client.post("/studies/new/", fields)
    assert Experiment.objects.get(owner=cast.user("vera")).lab is None


def test_a_lab_is_renamed_and_deleted_once_empty(client, lab, study):
    client.force_login(cast.ada())
    client.post(f"{LAB}name/", {"name": "Semantics lab"})
    assert (
        "The lab has studies" in client.post(f"{LAB}delete/", {"sure": "yes"}, follow=True).content.decode()
    )
    client.post("/studies/agreement/team/lab/", {"lab": "", "sure": "yes"})
    assert client.post(f"{LAB}delete/", {"sure": "yes"}).url == "/labs/"
    assert not Lab.objects.exists() and not LabMembership.objects.exists()
    assert AuditEntry.objects.filter(action="lab deleted", details__name="Semantics lab").exists()


def test_a_user_creates_a_limited_number_of_labs(client, monkeypatch):
    monkeypatch.setattr("experiments.pages.teams.labs.MOST_LABS", 1)
    client.force_login(cast.ada())
    client.post("/labs/", {"name": "First"})
    assert "You have created 1 labs" in client.post("/labs/", {"name": "Second"}).content.decode()
    assert Lab.objects.count() == 1
