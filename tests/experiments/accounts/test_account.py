"""A researcher's own page and the doors to it."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth
from django.utils import timezone

from experiments.models import ApiToken
from tests import cast

pytestmark = pytest.mark.django_db


def shown_token(page):
    return re.search(r'class="secret">([0-9a-f]{40})<', page.content.decode())[1]


def test_token_is_shown_once_and_stored_as_a_hash(client):
    client.force_login(cast.ada())
    client.post("/account/token/", {"action": "make", "name": "R script", "scopes": ["read"], "days": "30"})
    first = client.get("/account/")
    key = shown_token(first)
    assert first["Cache-Control"] == "no-store"
    assert key not in client.get("/account/").content.decode()
    row = ApiToken.objects.get(user=cast.ada())
    assert key not in str(vars(row)) and row.scopes == ["read"] and row.hint == key[-4:]
    assert 29 <= (row.expires_at - timezone.now()).days <= 30


def test_new_token_of_a_name_ends_the_old_one_and_withdrawing_ends_one_or_all(client):
    client.force_login(cast.ada())
    client.post("/account/token/", {"action": "make"})
    old = ApiToken.objects.get(user=cast.ada())
    client.post("/account/token/", {"action": "make"})
    assert not ApiToken.objects.filter(pk=old.pk).exists()
    cast.token(cast.ada(), scopes=("read",))
    bens = cast.token(cast.ben())
    row = ApiToken.objects.get(user=cast.ada(), name="read")
    client.post("/account/token/", {"action": "withdraw", "token": str(row.pk)})
    assert not ApiToken.objects.filter(pk=row.pk).exists()
    client.post("/account/token/", {"action": "withdraw"})
    assert [row.hint for row in ApiToken.objects.all()] == [bens[-4:]]


def test_a_token_of_another_person_cannot_be_revoked(client):
    cast.token(cast.ben())
    client.force_login(cast.ada())
    client.post("/account/token/", {"action": "withdraw", "token": str(ApiToken.objects.get().pk)})
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    "wrong", [{"scopes": ["all"]}, {"days": "9999"}, {"name": ""}, {"scopes": []}], ids=str
)
def test_a_wrong_form_makes_no_token(client, wrong):
    client.force_login(cast.ada())
    form = {"action": "make", "name": "x", "scopes": ["read"], "days": "30", **wrong}
    assert client.post("/account/token/", form).status_code == 302
    assert not ApiToken.objects.exists()


def test_a_new_password_ends_every_token_wherever_it_is_set(client):
    cast.token(cast.ada())
    client.force_login(cast.ada())
    new = "a-longer-secret-7"
    sent = {"oldpassword": "ada-password", "password1": new, "password2": new}
    client.post("/accounts/password/change/", sent)
    assert not ApiToken.objects.exists()
    cast.token(cast.ada())
    user = cast.ada()
    user.set_password("another-secret-8")  # as the administration and the command line do
    user.save()
    assert not ApiToken.objects.exists()


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


def test_login_page_names_who_creates_accounts(client, settings):
    assert "An administrator of this site makes them" in client.get("/accounts/login/").content.decode()
    settings.OPEN_SIGNUP = True
    assert "Create one" in client.get("/accounts/login/").content.decode()


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
    response = client.post(form.redirect_chain[-1][0], new, follow=True)
    assert "Your password is changed" in response.content.decode()
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


def test_the_second_factor_is_turned_on_asked_for_and_turned_off_in_the_words_of_the_rest(client):
    ada = cast.ada()
    login = {"login": "ada", "password": "ada-password"}
    client.post("/accounts/login/", login)
    assert "Your password alone opens your account" in client.get("/accounts/2fa/").content.decode()
    client.post("/accounts/reauthenticate/", {"password": "ada-password"})
    page = client.get("/accounts/2fa/totp/activate/").content.decode()
    assert "Six digits of the app" in page and "Authenticator code" not in page
    secret = re.search(r'class="secret">(\w+)<', page)[1]
    client.post("/accounts/2fa/totp/activate/", {"code": digits(secret)})
    page = client.get("/accounts/2fa/recovery-codes/").content.decode()
    assert "10 of 10 left" in page and "Each opens your account once" in page
    assert "10 left." in client.get("/accounts/2fa/").content.decode()
    assert "open nothing any more" in client.get("/accounts/2fa/recovery-codes/generate/").content.decode()
    client.logout()
    response = client.post("/accounts/login/", login, follow=True)
    assert "Six digits of the app, or a recovery code" in response.content.decode()
    first, second = RecoveryCodes(ada.authenticator_set.get(type="recovery_codes")).get_unused_codes()[:2]
    assert client.post("/accounts/2fa/authenticate/", {"code": first}).url == "/"
    html = client.get("/accounts/2fa/totp/deactivate/", follow=True).content.decode()
    assert "Is it you?" in html and "/accounts/2fa/reauthenticate/" in html
    page = client.get("/accounts/2fa/reauthenticate/").content.decode()
    assert "Six digits of the app, or a recovery code" in page
    client.post("/accounts/2fa/reauthenticate/", {"code": second})
    assert "8 left." in client.get("/accounts/2fa/").content.decode()
    assert "Turn the second factor off?" in client.get("/accounts/2fa/totp/deactivate/").content.decode()
    client.post("/accounts/2fa/totp/deactivate/")
    assert not ada.authenticator_set.exists()


def digits(secret: str) -> str:
    """What an authenticator app shows now."""
    return auth.format_hotp_value(auth.hotp_value(secret, int(time.time()) // 30))


def test_a_code_of_the_app_opens_an_account_once_for_as_long_as_it_is_valid(client, monkeypatch):
    """It is valid for one period of 30 seconds before and after its own."""
    clock, secret = [time.time() // 30 * 30 + 1], auth.generate_totp_secret()
    monkeypatch.setattr("time.time", lambda: clock[0])
    monkeypatch.setattr("experiments.operation.database_cache.time", lambda: clock[0])
    auth.TOTP.activate(cast.ada(), secret)
    clock[0] += 30
    code = digits(secret)
    clock[0] -= 30  # the telephone's clock is ahead

    def can_log_in(code):
        client.logout()
        client.post("/accounts/login/", {"login": "ada", "password": "ada-password"})
        client.post("/accounts/2fa/authenticate/", {"code": code})
        return client.get("/account/").status_code == 200

    assert can_log_in(code)
    for _ in range(2):
        clock[0] += 29
        assert not can_log_in(f"{code[:3]} {code[3:]}")
    clock[0] += 3
    assert not can_log_in(code) and can_log_in(digits(secret))


@pytest.mark.parametrize("is_open", [True, False])
def test_an_unknown_address_is_answered_with_how_accounts_are_created(client, settings, mailoutbox, is_open):
    settings.OPEN_SIGNUP = is_open
    client.post("/accounts/password/reset/", {"email": "nobody@example.org"})
    assert "No account has this address" in mailoutbox[0].subject
    assert ("/accounts/signup/" in mailoutbox[0].body) is is_open
    assert ("administrator" in mailoutbox[0].body) is not is_open


def test_where_sign_up_is_open_its_page_speaks_as_the_rest_does(client, settings):
    settings.OPEN_SIGNUP = True
    page = client.get("/accounts/signup/").content.decode()
    assert "Make the account" in page and "User name" in page
    assert "(optional)" not in page and "Username" not in page


def test_operation_is_for_administrators_and_says_so(ada):
    refused = ada.get("/operation/")
    assert refused.status_code == 403 and "This part is for administrators" in refused.content.decode()


def test_a_passkey_of_another_person_is_neither_renamed_nor_removed(client):
    row = Authenticator.objects.create(user=cast.ben(), type="webauthn", data={"name": "Ben's"})
    cast.ada()
    client.post("/accounts/login/", {"login": "ada", "password": "ada-password"})
    client.post("/accounts/reauthenticate/", {"password": "ada-password"})
    for action in ("edit", "remove"):
        address = f"/accounts/2fa/webauthn/keys/{row.pk}/{action}/"
        assert client.post(address, {"name": "x"}).status_code == 404
    assert Authenticator.objects.get().data == {"name": "Ben's"}


@pytest.mark.parametrize("credential", ["", "{", "[]", '{"response": {"userHandle": "MQ"}}', "7"])
def test_a_forged_passkey_opens_nothing(client, credential):
    cast.ada()
    client.get("/accounts/2fa/webauthn/login/", headers={"accept": "application/json"})
    answer = client.post("/accounts/2fa/webauthn/login/", {"credential": credential})
    assert answer.status_code == 302 and answer.url == "/accounts/login/"
    assert client.get("/account/").status_code == 302


def test_passkeys_are_limited_by_network(client):
    sent = {"credential": '{"response": {"userHandle": "MQ"}}'}
    answers = [client.post("/accounts/2fa/webauthn/login/", sent) for _ in range(12)]
    assert answers[-1].status_code == 429 and answers[-1]["Retry-After"]
