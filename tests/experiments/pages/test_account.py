"""A researcher's own page and the doors to it."""

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
