"""The history: who decided what and when, old and new, filtered, as a file, and never changed."""

import csv
import io
import re

import pytest
from django.contrib import admin

from experiments.models import AuditEntry, Campaign
from experiments.models.team import AppendOnly
from experiments.pages.teams import labs
from experiments.teams import members
from judgments.recruitment import campaigns, payments
from tests import cast

pytestmark = pytest.mark.django_db
HISTORY = "/studies/agreement/history"


@pytest.fixture
def study():
    study = cast.study("agreement")
    AuditEntry.objects.create(
        experiment=study,
        user=cast.ada(),
        action="settings changed",
        details={"changes": {"title": {"old": "A", "new": '=HYPERLINK("http://x")'}}},
    )
    AuditEntry.objects.create(
        experiment=study, user=cast.user("emil"), action="participant flagged", details={"reason": "@SUM(1)"}
    )
    AuditEntry.objects.create(
        experiment=study,
        user=cast.ada(),
        action="current exclusion plan changed",
        details={"before": "none", "after": "strict v1"},
    )
    AuditEntry.objects.create(
        experiment=study, user=cast.ada(), action="pay: reward", details={"amount": "1.50 GBP"}
    )
    return study


def rows(client, query="", address=HISTORY):
    response = client.get(f"{address}.csv?{query}")
    assert response["Content-Type"].startswith("text/csv")
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_owners_download_old_and_new_values_without_formulas(client, study):
    client.force_login(cast.ada())
    table = rows(client)
    assert [row["action"] for row in table] == [
        "pay: reward", "current exclusion plan changed", "participant flagged", "settings changed"
    ]  # fmt: skip
    assert (table[1]["old"], table[1]["new"], table[1]["user"]) == ("none", "strict v1", "ada")
    assert (table[3]["name"], table[3]["old"], table[3]["new"]) == (
        "title",
        "A",
        '"=HYPERLINK(\\"http://x\\")"',
    )
    assert not [cell for row in table for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("about=money", ["pay: reward"]),
        ("about=people", ["participant flagged"]),
        ("about=releases", ["current exclusion plan changed"]),
        ("about=settings", ["settings changed"]),
        ("about=team", []),
        ("who=emil", ["participant flagged"]),
        ("q=PLAN", ["current exclusion plan changed"]),
        ("until=2020-01-01", []),
        ("since=2020-01-01&about=money", ["pay: reward"]),
        ("since=nonsense&about=money", ["pay: reward"]),
    ],
)
def test_filters_hold_on_the_page_and_in_the_file(client, study, query, actions):
    client.force_login(cast.ada())
    assert [row["action"] for row in rows(client, query)] == actions
    page = client.get(f"{HISTORY}/?{query}").content.decode()
    every = {"pay: reward", "participant flagged", "current exclusion plan changed", "settings changed"}
    headings = {action for action in every if f">{action[0].upper()}{action[1:]} <small" in page}
    assert headings == set(actions)


@pytest.mark.parametrize(("name", "status"), [("ben", 403), ("emil", 403), ("cleo", 404)])
def test_the_file_is_for_owners(client, study, name, status):
    study.memberships.create(user=cast.user("emil"), role="editor")
    client.force_login(cast.user(name))
    assert client.get(f"{HISTORY}.csv").status_code == status


def test_an_administrator_downloads_it_and_managers_that_of_their_lab(client, study):
    lab = cast.lab(ada="manager", emil="editor")
    AuditEntry.objects.create(lab=lab, user=cast.ada(), action="lab created", details={"name": "-1"})
    client.force_login(cast.user("staff", is_staff=True))
    assert len(rows(client)) == 4
    client.force_login(cast.user("emil"))
    assert client.get("/labs/syntax-lab/history.csv").status_code == 403
    client.force_login(cast.ada())
    assert client.get("/labs/syntax-lab/history.csv").status_code == 200


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("", ["quota changed", "member added", "member added", "lab renamed", "lab created"]),
        ("about=team", ["member added", "member added", "lab renamed", "lab created"]),
        ("about=settings", ["quota changed"]),
        ("who=root", ["quota changed"]),
        ("q=RENAMED", ["lab renamed"]),
        ("until=2020-01-01", []),
    ],
)
def test_the_history_of_a_lab_has_the_filters_and_the_file_of_a_studys(client, query, actions):
    lab = labs.create_lab(cast.ada(), "Syntax")
    labs.rename_lab(lab, "Syntax lab", by=cast.ada())
    members.add_member(lab, cast.ben().username, role="viewer", by=cast.ada())
    members.add_member(lab, cast.ben().username, role="editor", by=cast.ada())
    root = cast.user("root", is_staff=True, is_superuser=True)
    client.force_login(root)
    none = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    client.post(f"/admin/experiments/lab/{lab.pk}/change/", {"upload_quota_bytes": 5000, **none})
    client.force_login(cast.ben())
    page = client.get(f"/labs/syntax/history/?{query}").content.decode()
    assert re.findall(r'<h2 id="entry-\d+">([^<]+) <small', page) == [name.capitalize() for name in actions]
    assert "/labs/syntax/history.csv" not in page  # for managers
    client.force_login(cast.ada())
    assert "/labs/syntax/history.csv" in client.get(f"/labs/syntax/history/?{query}").content.decode()
    table = rows(client, query, "/labs/syntax/history")
    assert [row["action"] for row in table] == actions
    changes = {(row["name"], row["old"], row["new"]) for row in table}
    expected = {
        "member added": ("role of ben", "viewer", "editor"),
        "lab renamed": ("name", "Syntax", "Syntax lab"),
    }
    assert {expected[action] for action in actions if action in expected} <= changes


def test_strangers_read_no_history_of_a_lab(client):
    cast.lab(ada="manager")
    client.force_login(cast.cleo())
    assert client.get("/labs/syntax-lab/history/").status_code == 404


def test_entries_are_only_added(study):
    entry = study.audit.first()
    for change in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        study.audit.all().delete,
        lambda: AuditEntry.objects.update(action="other"),
        lambda: study.audit.filter(pk=entry.pk).update(action="other"),
        lambda: AuditEntry.objects.bulk_update([entry], ["action"]),
        lambda: AuditEntry.objects.update_or_create(pk=entry.pk, defaults={"action": "other"}),
    ):
        with pytest.raises(AppendOnly):
            change()
    assert AuditEntry.objects.filter(action="other").count() == 0 and study.audit.count() == 4


def test_the_administration_changes_no_entry_and_an_entry_outlives_its_user(client, study):
    root = cast.user("root", is_staff=True, is_superuser=True)
    client.force_login(root)
    entry = study.audit.filter(user=cast.user("emil")).get()
    address = f"/admin/experiments/auditentry/{entry.pk}/"
    assert client.post(f"{address}change/", {"action": "x"}).status_code == 403
    assert client.post(f"{address}delete/", {"post": "yes"}).status_code == 403
    assert not admin.site._registry[AuditEntry].get_actions(client.get("/admin/").wsgi_request)
    cast.user("emil").delete()
    entry.refresh_from_db()
    assert entry.user is None and entry.action == "participant flagged"


def test_a_change_in_the_administration_is_in_the_history(client, study):
    root = cast.user("root", is_staff=True, is_superuser=True)
    client.force_login(root)
    address = f"/admin/experiments/experiment/{study.pk}/change/"
    form = client.get(address).context["adminform"].form
    fields = {name: "" if value is None else value for name, value in form.initial.items()}
    fields = {name: form[name].value() if name in form.fields else value for name, value in fields.items()}
    fields = {name: "" if value is None else value for name, value in fields.items()}
    fields |= {
        "reward_minor": 250,
        "description": "New",
        "memberships-TOTAL_FORMS": 0,
        "memberships-INITIAL_FORMS": 0,
    }
    response = client.post(address, {name: value for name, value in fields.items() if value is not False})
    assert response.status_code == 302, response.context["adminform"].form.errors
    entry = study.audit.first()
    assert (entry.action, entry.user) == ("changed in the administration", root)
    assert entry.details["changes"]["reward_minor"] == {"old": 0, "new": 250}


def test_decisions_on_money_and_settings_keep_the_values_before(client, study):
    campaign = campaigns.create_draft(study, recruiter="prolific", name="First", by=cast.ada())
    campaigns.change_draft(campaign, by=cast.ada(), reward_minor=300)
    campaigns.change_draft(campaign, by=cast.ada(), reward_minor=300)  # nothing changes, nothing is noted
    entry = study.audit.filter(action="campaign changed").get()
    assert entry.details["values"]["reward_minor"] == {"old": 0, "new": 300}
    client.force_login(cast.ada())
    assert Campaign.objects.get().reward_minor == 300
    session = cast.sit(study, "pia")
    payments.approve(session, amount_minor=150, currency="GBP", by=cast.ada())
    assert study.audit.filter(action__startswith="pay: ").count() == 2
