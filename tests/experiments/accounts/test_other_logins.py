"""Logins by OpenID Connect and ORCID, against a provider on this machine."""

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.auth.models import User
from django.test import Client

from config.settings import openid_service
from tests import cast
from tools.doubles import openid

pytestmark = pytest.mark.django_db
LEAVE = "/accounts/oidc/university/login/"
ADA = {"sub": "u-1", "name": "Ada L.", "email": "ada@example.org", "email_verified": True, "gender": "f"}


@pytest.fixture
def provider(settings):
    with openid.running() as double:
        double.claims = dict(ADA)
        ours, orcid = ({"client_id": name, "secret": secret} for name, secret in openid.CLIENTS.items())
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {
                "OAUTH_PKCE_ENABLED": True,
                "APPS": [
                    openid_service("university", "Lab Shibboleth", url=double.address, **ours),
                    openid_service("orcid", "ORCID", url=double.address, **orcid),
                ],
            }
        }
        yield double


def go(client, provider, address=LEAVE):
    """Press the button, agree at the provider, come back."""
    page = client.post(address)
    assert page.status_code == 200  # no redirect of a form: the content policy would stop it
    leads_to = re.search(r'<a href="([^"]+)">Go on', page.content.decode())[1].replace("&amp;", "&")
    assert leads_to.startswith(f"{provider.address}/authorize?")
    return client.get(provider.authorize(leads_to), follow=True)


def connect(client, provider, address=LEAVE):
    client.post("/accounts/login/", {"login": "ada", "password": "ada-password"})
    return go(client, provider, f"{address}?process=connect")


def is_logged_in(client):
    return client.get("/account/").status_code == 200


def test_the_buttons_stand_there_only_where_they_are_configured(client, provider, settings):
    page = client.get("/accounts/login/").content.decode()
    assert "Log in with Lab Shibboleth" in page and "Log in with ORCID" in page
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": []}}
    assert "Log in with Lab" not in client.get("/accounts/login/").content.decode()
    assert client.post(LEAVE).status_code == 404
    client.force_login(cast.ada())
    assert "Its administrator turns them on" in client.get("/accounts/3rdparty/").content.decode()
    assert "Logins of other services" not in client.get("/account/").content.decode()


def test_a_connected_login_opens_the_account(provider):
    cast.ada()
    page = connect(Client(), provider).content.decode()
    assert "opens your account from now on" in page and "Lab Shibboleth" in page
    client = Client()
    go(client, provider)
    assert is_logged_in(client) and "ada" in client.get("/account/").content.decode()
    stored = SocialAccount.objects.get()
    assert stored.extra_data == {"userinfo": {"sub": "u-1", "name": "Ada L."}}
    assert not SocialToken.objects.exists()


def test_an_address_alone_opens_no_account(provider, settings, mailoutbox):
    """Who may name an address at the other service does not get the account that has it here."""
    settings.OIDC_SIGNUP = True
    EmailAddress.objects.create(user=cast.ada(), email="ada@example.org", verified=True, primary=True)
    for is_verified in (True, False):
        provider.claims = {**ADA, "sub": "thief", "email_verified": is_verified}
        client = Client()
        page = go(client, provider).content.decode()
        assert not is_logged_in(client) and "then connect" in page
        sent = {"username": "thief", "email": "ada@example.org"}
        client.post("/accounts/3rdparty/signup/", sent)
        assert not is_logged_in(client)
    assert User.objects.count() == 1 and not SocialAccount.objects.exists()


def test_who_is_connected_with_no_account_gets_none_unless_allowed(provider, settings):
    provider.claims = {"sub": "u-2", "name": "Dana", "email": "dana@example.org", "email_verified": True}
    client = Client()
    page = go(client, provider).content.decode()
    assert "log in with your password" in page.lower() and not User.objects.exists()
    settings.OIDC_SIGNUP = True
    go(client, provider)
    assert is_logged_in(client)
    dana = User.objects.get()
    assert dana.email == "dana@example.org" and not dana.has_usable_password() and not dana.is_staff
    assert "Choose one" in client.get("/account/").content.decode()
    assert "Choose a password" in client.get("/accounts/password/set/").content.decode()


def test_a_login_of_another_account_is_not_taken_away(provider):
    cast.ada()
    connect(Client(), provider)
    bens = Client()
    cast.ben()
    bens.post("/accounts/login/", {"login": "ben", "password": "ben-password"})
    page = go(bens, provider, f"{LEAVE}?process=connect").content.decode()
    assert "Another account is connected" in page
    assert SocialAccount.objects.get().user == cast.ada()


def test_the_second_factor_is_asked_for_after_the_other_login(provider):
    cast.ada()
    connect(Client(), provider)
    cast.ada().authenticator_set.create(type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    client = Client()
    page = go(client, provider)
    assert "Second factor" in page.content.decode() and not is_logged_in(client)


def test_orcid_needs_no_address(provider, settings):
    cast.ada()
    provider.claims = {"sub": "0000-0002-1825-0097", "given_name": "Ada"}
    orcid = "/accounts/oidc/orcid/login/"
    assert "0000-0002-1825-0097" in connect(Client(), provider, orcid).content.decode()
    client = Client()
    go(client, provider, orcid)
    assert is_logged_in(client)


def test_a_connection_is_ended(provider):
    cast.ada()
    client = Client()
    connect(client, provider)
    page = client.post("/accounts/3rdparty/", {"account": SocialAccount.objects.get().pk}, follow=True)
    assert "no longer opens your account" in page.content.decode()
    stranger = Client()
    go(stranger, provider)
    assert not is_logged_in(stranger)


@pytest.mark.parametrize("fault", ["state", "audience", "code", "refused", "down"])
def test_a_login_that_is_not_confirmed_opens_nothing(provider, fault):
    cast.ada()
    connect(Client(), provider)
    client = Client()
    page = client.post(LEAVE)
    leads_to = re.search(r'<a href="([^"]+)">Go on', page.content.decode())[1].replace("&amp;", "&")
    back = provider.authorize(leads_to)
    if fault == "state":
        client = Client()  # another browser, which asked for no login
    elif fault == "audience":
        provider.audience = "another-client"
    elif fault == "code":
        provider.codes.clear()
    elif fault == "refused":
        back = re.sub(r"code=[^&]+", "error=access_denied", back)
    provider.is_down = fault == "down"
    answer = client.get(back, follow=True)
    assert not is_logged_in(client)
    assert "That login did not work" in answer.content.decode() or "cancelled" in answer.content.decode()


def test_a_service_that_does_not_answer_is_told(client, provider):
    provider.is_down = True
    assert "That login did not work" in client.post(LEAVE, follow=True).content.decode()


def test_a_link_alone_starts_no_login(client, provider):
    """Otherwise a page elsewhere could connect its own login with the account of who is logged in here."""
    client.force_login(cast.ada())
    page = client.get(f"{LEAVE}?process=connect")
    assert page.status_code == 200 and "Connect Lab Shibboleth" in page.content.decode()
    assert provider.requests == []
