"""A researcher's own page and the doors to it."""

import re

import pytest
from rest_framework.authtoken.models import Token

from tests import cast

pytestmark = pytest.mark.django_db


def test_token_is_shown_once(client):
    client.force_login(cast.ada())
    client.post("/account/token/", {"action": "make"})
    key = Token.objects.get(user=cast.ada()).key
    first = client.get("/account/")
    assert key in first.content.decode()
    assert first["Cache-Control"] == "no-store"
    assert key not in client.get("/account/").content.decode()


def test_new_token_ends_the_old_one_and_withdrawing_ends_both(client):
    client.force_login(cast.ada())
    client.post("/account/token/", {"action": "make"})
    old = Token.objects.get(user=cast.ada()).key
    client.post("/account/token/", {"action": "make"})
    assert not Token.objects.filter(key=old).exists()
    client.post("/account/token/", {"action": "withdraw"})
    assert not Token.objects.exists()


def test_token_needs_a_post(client):
    client.force_login(cast.ada())
    assert client.get("/account/token/").status_code == 405


@pytest.mark.parametrize(
    "address",
    ["/account/", "/accounts/2fa/", "/accounts/password/change/", "/accounts/email/", "/accounts/logout/"],
)
def test_account_pages_open_for_their_owner_and_ask_strangers_to_log_in(client, address):
    assert client.get(address).status_code == 302
    client.force_login(cast.ada())
    assert client.get(address).status_code == 200


def test_login_page_says_who_makes_accounts(client, settings):
    assert "An administrator of this site makes them" in client.get("/accounts/login/").content.decode()
    settings.OPEN_SIGNUP = True
    assert "Make one" in client.get("/accounts/login/").content.decode()


def test_login_with_name_and_password(client):
    cast.ada()
    sent = {"login": "ada", "password": "ada-password"}
    assert client.post("/accounts/login/", sent).url == "/"
    assert "Studies" in client.get("/").content.decode()


def test_who_forgot_the_password_reads_whether_a_message_can_come(client, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "sends no mail yet" in client.get("/accounts/password/reset/").content.decode()
    assert "sends no mail yet" in client.get("/accounts/password/reset/done/").content.decode()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert "sends no mail" not in client.get("/accounts/password/reset/").content.decode()
    assert "Send the link" in client.get("/accounts/password/reset/").content.decode()


def test_a_forgotten_password_is_chosen_anew_by_the_link_once(client, mailoutbox):
    cast.ada()
    client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    link = re.search(r"/accounts/password/reset/key/\S+", mailoutbox[0].body)[0]
    form = client.get(link, follow=True)
    assert "Choose a new password" in form.content.decode()
    new = {"password1": "a-longer-secret-7", "password2": "a-longer-secret-7"}
    done = client.post(form.redirect_chain[-1][0], new, follow=True)
    assert "Your password is changed" in done.content.decode()
    assert "This link is used up" in client.get(link, follow=True).content.decode()
    assert client.login(username="ada", password="a-longer-secret-7")


def test_addresses_are_added_made_the_main_one_and_removed(client):
    client.force_login(cast.ada())
    client.post("/accounts/email/", {"action_add": "", "email": "ada@lab.example.org"})
    page = client.get("/accounts/email/").content.decode()
    assert "ada@lab.example.org" in page and "Make it the main one" in page
    client.post("/accounts/email/", {"action_remove": "", "email": "ada@lab.example.org"})
    assert 'value="ada@lab.example.org"' not in client.get("/accounts/email/").content.decode()


def test_the_doors_speak_as_the_rest_does(client):
    assert "User name or e-mail" in client.get("/accounts/login/").content.decode()
    assert "Accounts are made for you" in client.get("/accounts/signup/").content.decode()
    client.force_login(cast.ada())
    assert "Save the password" in client.get("/accounts/password/change/").content.decode()
    assert "Is it you?" in client.get("/accounts/reauthenticate/").content.decode()
