"""Addresses are confirmed where mail leaves, and passwords follow rules that the pages name."""

import re
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from django.core.management import call_command
from django.test import Client

from config import settings as site_settings
from tests import cast

pytestmark = pytest.mark.django_db
SECRET = "a-longer-secret-7"
LOGIN = {"login": "ada", "password": "ada-password"}


@pytest.fixture
def mandatory(settings):
    """As where EMAIL_BACKEND sends mail."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
    settings.OPEN_SIGNUP = True


def sign_up(client, name="dana", email="dana@example.org", password=SECRET):
    sent = {"username": name, "email": email, "password1": password, "password2": password}
    return client.post("/accounts/signup/", sent, follow=True)


def link(message):
    return re.search(r"/accounts/confirm-email/\S+", message.body)[0]


def test_who_signs_up_logs_in_after_confirming_the_address(mandatory, client, mailoutbox):
    assert "message with a link" in client.get("/accounts/signup/").content.decode()
    assert "Confirm your address" in sign_up(client).content.decode()
    assert client.get("/account/").status_code == 302
    login = {"login": "dana", "password": SECRET}
    assert client.post("/accounts/login/", login).url == "/accounts/confirm-email/"
    (message,) = mailoutbox
    assert "Confirm your address" in message.subject and "dana" in message.body
    page = client.get(link(message)).content.decode()
    assert "Is this your address?" in page and "dana@example.org" in page
    assert "is confirmed" in client.post(link(message), follow=True).content.decode()
    assert client.post("/accounts/login/", login).url == "/"
    assert "no longer valid" in Client().get("/accounts/confirm-email/wrong/").content.decode()


def test_an_address_that_has_an_account_is_told_by_mail_only(mandatory, client, mailoutbox):
    cast.ada()
    page = sign_up(client, email="ada@example.org")
    assert "Confirm your address" in page.content.decode()
    assert "has an account" in mailoutbox[0].subject and "/accounts/password/reset/" in mailoutbox[0].body


def test_accounts_made_by_an_administrator_log_in_at_once(mandatory, client, mailoutbox):
    cast.ada()
    assert client.post("/accounts/login/", LOGIN).url == "/"
    assert EmailAddress.objects.get(user=cast.ada()).verified
    without = cast.user("vera")
    without.email = ""
    without.save(update_fields=["email"])
    assert Client().post("/accounts/login/", {"login": "vera", "password": "vera-password"}).url == "/"
    assert mailoutbox == []


def test_an_address_of_somebody_else_is_not_taken_over(mandatory, client):
    EmailAddress.objects.create(user=cast.ben(), email="ada@example.org", verified=True)
    cast.ada()
    assert client.post("/accounts/login/", LOGIN).url == "/accounts/confirm-email/"


def test_another_main_address_is_confirmed_first(mandatory, client, mailoutbox):
    cast.ada()
    client.post("/accounts/login/", LOGIN)
    new = "ada@lab.example.org"
    client.post("/accounts/email/", {"action_add": "", "email": new})
    page = client.post("/accounts/email/", {"action_primary": "", "email": new}, follow=True).content.decode()
    assert "Confirm the address first" in page and "not confirmed" in page
    client.post(link(mailoutbox[0]))
    client.post("/accounts/email/", {"action_primary": "", "email": new})
    assert cast.user("ada").email == new
    assert mailoutbox[-1].to == ["ada@example.org"] and "it was ada@example.org" in mailoutbox[-1].body


def test_messages_about_changes_name_no_network_address(client, mailoutbox):
    EmailAddress.objects.create(user=cast.ada(), email="ada@example.org", verified=True, primary=True)
    client.force_login(cast.ada())
    new = {"oldpassword": "ada-password", "password1": SECRET, "password2": SECRET}
    client.post("/accounts/password/change/", new)
    (message,) = mailoutbox
    assert "password of your account is changed" in message.body and "If it was not you" in message.body
    assert "127.0.0.1" not in message.body and "Browser" not in message.body


def test_without_mail_no_page_promises_a_message(client, settings, mailoutbox):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    settings.OPEN_SIGNUP = True
    assert "message with a link" not in client.get("/accounts/signup/").content.decode()
    sign_up(client, email="")
    assert client.get("/account/").status_code == 200
    added = {"action_add": "", "email": "dana@example.org"}
    page = client.post("/accounts/email/", added, follow=True).content.decode()
    assert "sends no mail, so it is not confirmed" in page and "Send the link again" not in page
    assert site_settings.ACCOUNT_EMAIL_VERIFICATION == "none"


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("short-7", "too short"),
        ("password123", "too common"),
        ("84736251908", "entirely numeric"),
        ("dana-dana-x", "too similar"),
    ],
)
def test_passwords_that_are_easily_guessed_are_refused(client, settings, password, reason):
    settings.OPEN_SIGNUP = True
    answer = sign_up(client, name="dana-dana", password=password)
    assert reason in answer.content.decode()


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/password/change/"])
def test_the_rules_of_passwords_stand_beside_the_field(client, settings, path):
    settings.OPEN_SIGNUP = True
    if "change" in path:
        client.force_login(cast.ada())
    page = client.get(path).content.decode()
    assert "at least 10 characters" in page and "entirely numeric" in page


def test_a_closed_account_reads_who_opens_it(client):
    ada = cast.ada()
    ada.is_active = False
    ada.save(update_fields=["is_active"])
    page = client.post("/accounts/login/", LOGIN, follow=True).content.decode()
    assert "This account is closed" in page


def test_an_administrator_is_made_on_the_command_line(client, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", SECRET)
    call_command("createsuperuser", username="root", email="", interactive=False)
    assert client.post("/accounts/login/", {"login": "root", "password": SECRET}).url == "/"
    assert client.get("/admin/").status_code == 200


def test_every_message_of_accounts_is_worded_here():
    """A message that django-allauth sends in its own words would not look like ours."""
    ours = Path("experiments/templates")
    theirs = Path(__import__("allauth").__file__).parent / "templates"
    unused = ("code", "phone", "email_confirmation_signup")  # logins and confirmations go by link
    missing = [
        str(path.relative_to(theirs))
        for folder in ("account", "mfa")
        for kind in ("email", "messages")
        for path in (theirs / folder / kind).glob("*.txt")
        if not any(word in path.name for word in unused) and not (ours / path.relative_to(theirs)).exists()
    ]
    assert missing == []


@pytest.fixture
def no_mail_server(settings):
    """Nothing listens there."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9


def test_a_mail_server_that_does_not_answer_keeps_nobody_from_changing_the_password(client, no_mail_server):
    EmailAddress.objects.create(user=cast.ada(), email="ada@example.org", verified=True, primary=True)
    client.force_login(cast.ada())
    new = {"oldpassword": "ada-password", "password1": SECRET, "password2": SECRET}
    assert client.post("/accounts/password/change/", new).status_code == 302
    assert cast.ada().check_password(SECRET)


def test_who_waits_for_a_message_reads_that_the_mail_server_does_not_answer(client, no_mail_server):
    cast.ada()
    answer = client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    assert answer.status_code == 503 and "mail server does not answer" in answer.content.decode()
