"""Members, invitations, links for reviewers and labs by a token."""

from functools import partial

import pytest
from django.core import mail

from experiments.models import AuditEntry, Lab, LabMembership, Membership
from tests import api, cast

pytestmark = pytest.mark.django_db
on_study = partial(api.call_study, "agreement")


def test_owners_change_the_members_of_a_study_and_one_owner_stays():
    study = cast.draft("agreement")
    cast.cleo()
    added = on_study("post", "team/", {"user": "cleo", "role": "editor"}, status=201)
    assert (added["user"], added["role"]) == ("cleo", "editor")
    assert on_study("post", "team/", {"user": "cleo", "role": "viewer"}, status=201)["id"] == added["id"]
    members = on_study("get", "team/", who=cast.cleo)["results"]
    assert [(row["user"], row["role"]) for row in members] == [
        ("ada", "owner"),
        ("ben", "viewer"),
        ("cleo", "viewer"),
    ]
    on_study("post", "team/", {"user": "cleo", "role": "owner"}, who=cast.cleo, status=403)
    on_study("post", "team/", {"user": "cleo", "role": "manager"}, status=400)
    on_study("post", "team/", {"user": "nadia", "role": "viewer"}, status=422)
    on_study("delete", f"team/{members[0]['id']}/", status=422)  # the last owner
    on_study("delete", f"team/{members[1]['id']}/", who=cast.cleo, status=403)
    on_study("delete", f"team/{added['id']}/", who=cast.cleo, status=204)
    on_study("get", "team/", who=cast.cleo, status=404)
    assert AuditEntry.objects.filter(experiment=study, action="member removed").count() == 1


def test_an_invitation_is_mailed_renewed_and_revoked(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    for start, role in (("studies/agreement/", "viewer"), ("labs/syntax/", "manager")):
        if start.startswith("labs"):
            cast.lab("Syntax", ada="manager")
        else:
            cast.draft("agreement")
        mail.outbox.clear()
        body = {"email": "Dora@example.org", "role": role}
        first = api.call("post", f"{start}invitations/", body, status=201)
        assert first["email"] == "dora@example.org"
        assert [first["link"] in message.body for message in mail.outbox] == [True] * first["is_sent"]
        again = api.call("post", f"{start}invitations/{first['id']}/resend/")
        assert again["link"] != first["link"] and again["id"] == first["id"]
        listed = api.call("get", f"{start}invitations/")["results"]
        assert [row["id"] for row in listed] == [first["id"]] and "link" not in listed[0]
        api.call("post", f"{start}invitations/", body, status=422)
        api.call("delete", f"{start}invitations/{first['id']}/", status=204)
        assert api.call("get", f"{start}invitations/")["count"] == 0
    on_study("get", "invitations/", who=cast.ben, status=403)


def test_a_link_for_reviewers_opens_until_it_is_revoked(client):
    study = cast.draft("agreement")
    made = on_study("post", "review-links/", {"label": "Glossa", "days": 30}, status=201)
    assert client.get(made["link"]).status_code == 200
    (listed,) = on_study("get", "review-links/")["results"]
    assert (listed["label"], listed["with_materials"], listed["n_uses"]) == ("Glossa", False, 1)
    on_study("delete", f"review-links/{listed['id']}/", status=204)
    assert client.get(made["link"]).status_code == 404
    on_study("get", "review-links/", who=cast.ben, status=403)
    assert study.review_links.get().revoked_at is not None


def test_a_lab_is_made_limited_joined_and_deleted():
    study = cast.draft("agreement")
    lab = api.call("post", "labs/", {"name": "Syntax lab"}, status=201)
    path = f"labs/{lab['slug']}/"
    assert (lab["n_members"], lab["n_studies"], lab["payment_limits"]) == (1, 0, {})
    assert api.call("patch", path, {"name": "Syntax", "payment_limits": {"GBP": 2000}})["name"] == "Syntax"
    limited = api.send("patch", path, {"payment_limits": {}}, scopes=("write", "people"))
    assert (limited.status_code, limited.json()["code"]) == (403, "scope")
    api.call("patch", path, {"payment_limits": {"pounds": 1}}, status=400)
    assert on_study("put", "lab/", {"lab": lab["slug"]})["lab"] == lab["slug"]
    api.call("delete", path, status=422)
    assert api.call("get", "labs/")["results"][0]["n_studies"] == 1
    assert api.call("get", "labs/", who=cast.cleo)["count"] == 0
    on_study("put", "lab/", {"lab": lab["slug"]}, who=cast.ben, status=403)
    assert on_study("put", "lab/", {"lab": None})["lab"] is None
    added = api.call("post", f"{path}team/", {"user": "ben", "role": "editor"}, status=201)
    api.call("delete", f"{path}team/{added['id']}/", status=204)
    api.call("delete", path, status=204)
    assert not Lab.objects.exists() and not LabMembership.objects.exists()
    assert Membership.objects.filter(experiment=study).count() == 2
