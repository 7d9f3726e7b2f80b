"""The history of an account: what changed, who did it, and that no secret is in it."""

import csv
import io
import re

import pytest
from django.core.management import call_command
from django.test import Client

from config.settings import openid_service
from experiments.models import ApiToken, AuditEntry
from tests import cast
from tests.experiments.accounts.test_account import digits, shown_token
from tools.doubles import openid

pytestmark = pytest.mark.django_db
NEW = "a-longer-secret-7"
PAGE, FILE = "/account/history/", "/account/history.csv"


@pytest.fixture
def ada(client):
    """Ada, logged in by her password; the entries of her own creation are not of interest."""
    account = cast.ada()
    account.set_password("ada-password")
    account.save(update_fields=["password"])
    client.post("/accounts/login/", {"login": "ada", "password": "ada-password"})
    client.post("/accounts/reauthenticate/", {"password": "ada-password"})
    return account


def actions(account):
    """Actions of an account, oldest first, without those of its creation."""
    return list(account.audit.order_by("pk").values_list("action", flat=True))[2:]


def rows(client, address=FILE, query=""):
    text = b"".join(client.get(f"{address}?{query}").streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def make_token(client, name="R script", **fields):
    sent = {"action": "make", "name": name, "scopes": ["read", "people"], "days": "30"} | fields
    client.post("/account/token/", sent)
    return shown_token(client.get("/account/"))


def test_tokens_are_recorded_when_made_replaced_and_revoked(client, ada):
    first = make_token(client)
    second = make_token(client, scopes=["read"])
    client.post("/account/token/", {"action": "withdraw", "token": str(ApiToken.objects.get().pk)})
    assert actions(ada) == ["token made", "token replaced", "token made", "token revoked"]
    made, replaced, _, revoked = ada.audit.order_by("pk")[2:]
    assert made.details["values"]["R script"]["new"].startswith("read, people; until 20")
    assert replaced.details["values"]["R script"]["old"] == made.details["values"]["R script"]["new"]
    assert revoked.details["values"]["R script"]["new"] == "" and revoked.details["ends_in"] == second[-4:]
    assert {entry.user for entry in ada.audit.all()[:4]} == {ada}
    page = client.get(PAGE).content.decode()
    assert "Token revoked" in page and "read, people; until" in page
    for key in (first, second):
        assert key not in page and key not in str(AuditEntry.objects.values_list())


def test_a_new_password_is_recorded_with_the_tokens_and_logins_that_it_ends(client, ada):
    make_token(client, "one")
    make_token(client, "two")
    Client().post("/accounts/login/", {"login": "ada", "password": "ada-password"})
    client.post(
        "/accounts/password/change/", {"oldpassword": "ada-password", "password1": NEW, "password2": NEW}
    )
    assert actions(ada)[2:] == ["token ended by a new password"] * 2 + ["password changed"]
    details = ada.audit.first().details
    assert (details["tokens_ended"], details["other_logins_ended"]) == (2, 1)
    assert NEW not in str(AuditEntry.objects.values_list())


def test_a_password_reset_by_mail_is_of_the_account_and_one_by_an_administrator_is_theirs(client, mailoutbox):
    ada, root = cast.ada(), cast.user("root", is_staff=True, is_superuser=True)
    client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    form = client.get(re.search(r"/accounts/password/reset/key/\S+", mailoutbox[0].body)[0], follow=True)
    client.post(form.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
    assert (ada.audit.first().action, ada.audit.first().user) == ("password changed", ada)
    admin = Client()
    admin.force_login(root)
    sent = {"usable_password": "true", "password1": f"{NEW}-8", "password2": f"{NEW}-8"}
    assert admin.post(f"/admin/auth/user/{ada.pk}/password/", sent).status_code == 302
    assert (ada.audit.first().action, ada.audit.first().user) == ("password changed", root)


def test_what_the_command_line_does_has_no_user(capsys):
    call_command("createsuperuser", interactive=False, username="root", email="root@example.org")
    entry = AuditEntry.objects.get(account__username="root")
    assert (entry.action, entry.user) == ("account created", None)
    assert entry.details["values"]["superuser"] == {"old": "", "new": True}


def test_second_factors_are_recorded_when_added_and_removed(client, ada):
    page = client.get("/accounts/2fa/totp/activate/").content.decode()
    secret = re.search(r'class="secret">(\w+)<', page)[1]
    client.post("/accounts/2fa/totp/activate/", {"code": digits(secret)})
    added = [entry.details["kind"] for entry in ada.audit.filter(action="second factor added")]
    assert sorted(added) == ["app", "recovery codes"]
    client.post("/accounts/2fa/totp/deactivate/")
    removed = ada.audit.filter(action="second factor removed")
    assert sorted(entry.details["kind"] for entry in removed) == ["app", "recovery codes"]
    assert secret not in str(AuditEntry.objects.values_list())


def test_a_passkey_that_an_administrator_removes_is_recorded_with_their_name(client):
    key = cast.ben().authenticator_set.create(type="webauthn", data={"name": "Phone"})
    client.force_login(cast.user("root", is_staff=True, is_superuser=True))
    client.post(f"/admin/mfa/authenticator/{key.pk}/delete/", {"post": "yes"})
    entry = cast.ben().audit.first()
    assert (entry.action, entry.user.username) == ("second factor removed", "root")
    assert entry.details == {"kind": "passkey", "name": "Phone"}


def test_addresses_are_recorded_when_added_confirmed_made_the_main_one_and_removed(client, ada, mailoutbox):
    client.post("/accounts/email/", {"action_add": "", "email": "ada@lab.example.org"})
    link = re.search(r"/accounts/confirm-email/\S+", mailoutbox[-1].body)[0]
    client.post(link)
    client.post("/accounts/email/", {"action_primary": "", "email": "ada@lab.example.org"})
    client.post("/accounts/email/", {"action_remove": "", "email": "ada@example.org"})
    assert actions(ada) == ["address added", "address confirmed", "address changed", "address removed"]
    change = ada.audit.get(action="address changed").details["values"]
    assert change == {"main address": {"old": "ada@example.org", "new": "ada@lab.example.org"}}


def test_logins_of_services_are_recorded_when_connected_and_removed(client, ada, settings):
    with openid.running() as double:
        double.claims = {"sub": "u-1", "name": "Ada L."}
        name, secret = next(iter(openid.CLIENTS.items()))
        service = openid_service("university", "Lab login", url=double.address, client_id=name, secret=secret)
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [service]}}
        page = client.post("/accounts/oidc/university/login/?process=connect").content.decode()
        leads_to = re.search(r'<a href="([^"]+)">Go on', page)[1].replace("&amp;", "&")
        client.get(double.authorize(leads_to), follow=True)
        client.post("/accounts/3rdparty/", {"account": str(ada.socialaccount_set.get().pk)})
    assert actions(ada) == ["login of a service connected", "login of a service removed"]
    for entry in ada.audit.all()[:2]:
        assert entry.details == {"service": "Lab login", "id_there": "u-1"} and entry.user == ada


def test_ended_logins_are_recorded(client, ada):
    for agent in ("Firefox Linux", "Chrome Windows"):
        Client(headers={"user-agent": agent}).post(
            "/accounts/login/", {"login": "ada", "password": "ada-password"}
        )
    page = client.get("/account/").content.decode()
    firefox = re.search(r'name="session" value="(\w+)">\s*<p><b>Firefox', page)[1]
    client.post("/account/sessions/", {"session": firefox})
    client.post("/account/sessions/")
    assert actions(ada) == ["login ended", "logged out everywhere else"]
    everywhere, one_login = ada.audit.all()[:2]
    assert one_login.details["browser"] == "Firefox on Linux" and everywhere.details["logins_ended"] == 1


def test_rights_given_in_the_administration_are_recorded_with_old_and_new_values(client):
    ben = cast.ben()
    ben.is_staff = True
    ben.email = "ben@lab.example.org"
    ben.save()
    assert ben.audit.first().action == "account changed"
    assert ben.audit.first().details["values"] == {
        "staff": {"old": False, "new": True},
        "main address": {"old": "ben@example.org", "new": "ben@lab.example.org"},
    }
    n_entries = ben.audit.count()
    ben.save()
    client.force_login(ben)
    assert ben.audit.count() == n_entries


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("about=tokens", ["token made"]),
        ("about=password+and+second+factor", ["password changed"]),
        ("about=logins", ["logged out everywhere else"]),
        ("about=addresses", []),
        ("about=account", ["account created"]),
        ("who=ada", ["logged out everywhere else", "token made"]),
        ("q=EVERYWHERE", ["logged out everywhere else"]),
        ("until=2020-01-01", []),
    ],
)
def test_filters_hold_on_the_page_and_in_the_file(client, ada, query, expected):
    make_token(client)
    client.post("/account/sessions/")
    cast.token(cast.ben())
    assert list(dict.fromkeys(row["action"] for row in rows(client, query=query))) == expected
    page = client.get(f"{PAGE}?{query}").content.decode()
    headings = re.findall(r'<h2 id="entry-\d+">([^<]+) <small', page)
    assert headings == [action.capitalize() for action in expected]


def test_the_owner_sees_the_last_entries_on_the_account_page_and_nobody_elses(client, ada):
    make_token(client)
    cast.token(cast.ben(), scopes=("money",))
    page = client.get("/account/").content.decode()
    assert "token made" in page and PAGE in page
    assert {row["account"] for row in rows(client)} == {"ada"}
    assert "money" not in client.get(PAGE).content.decode()


def test_administrators_read_the_history_of_every_account(client, ada):
    make_token(client)
    for name, status in (("root", 200), ("helper", 403), ("ben", 403)):
        account = cast.user(name, is_staff=name != "ben", is_superuser=name == "root")
        reader = Client()
        reader.force_login(account)
        assert reader.get("/operation/accounts/").status_code == status
        assert reader.get("/operation/accounts.csv").status_code == status
        assert ("/operation/accounts/" in reader.get("/operation/").content.decode()) is (name == "root")
    reader = Client()
    reader.force_login(cast.user("root"))
    page = reader.get("/operation/accounts/?account=ada&about=tokens").content.decode()
    assert "Token made" in page and "account ada" in page
    table = rows(reader, "/operation/accounts.csv", "account=ada&about=tokens")
    assert [(row["account"], row["user"], row["action"]) for row in table] == [("ada", "ada", "token made")]


def test_the_history_of_a_deleted_account_goes_with_it_but_for_its_deletion(client):
    cast.token(cast.ben())
    root = cast.user("root", is_staff=True, is_superuser=True)
    client.force_login(root)
    ben = cast.ben()
    ben.authenticator_set.create(type="webauthn", data={"name": "Phone"})
    assert client.post(f"/admin/auth/user/{ben.pk}/delete/", {"post": "yes"}).status_code == 302
    entries = AuditEntry.objects.exclude(account=root)
    assert [(entry.action, entry.user, entry.details) for entry in entries] == [
        ("account deleted", root, {"account": "ben"})
    ]
    assert "Account deleted" in client.get("/operation/accounts/").content.decode()
