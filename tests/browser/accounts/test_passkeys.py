"""Passkeys with Chromium's virtual authenticator: add, log in, ask again, rename, remove."""

import re

import pytest
from playwright.sync_api import expect

from tests import cast

HOME = re.compile(r"//[^/]+/$")
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def add_authenticator(page, *, verifies=True):
    """A device with a fingerprint reader (or an older key without one), as Chromium plays it."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal" if verifies else "usb",
        "hasResidentKey": verifies,
        "hasUserVerification": verifies,
        "isUserVerified": verifies,
        "automaticPresenceSimulation": True,
    }
    device = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return devtools, device["authenticatorId"]


def log_in(page, name="ada"):
    page.goto("/accounts/login/")
    page.get_by_label("User name or e-mail").fill(name)
    page.get_by_label("Password").fill(f"{name}-password")
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_url(re.compile(r"//[^/]+/$|/2fa/"))


def log_out(page):
    page.get_by_role("button", name="Log out", exact=True).click()
    page.wait_for_url(HOME)


def add_passkey(page, *, by_itself=True):
    page.goto("/accounts/2fa/webauthn/add/")
    if page.get_by_role("heading", name="Is it you?").is_visible():
        page.get_by_label("Password").fill("ada-password")
        page.get_by_role("button", name="Go on").click()
    page.get_by_label("It logs in by itself").set_checked(by_itself)
    page.get_by_role("button", name="Add it").click()


def test_a_passkey_is_added_logs_in_and_is_removed(open_page, check_page):
    cast.ada()
    page = open_page(width=1280)
    add_authenticator(page)
    log_in(page)
    page.goto("/accounts/2fa/")
    check_page(page)
    add_passkey(page)
    expect(page.get_by_text("10 of 10 left")).to_be_visible()
    log_out(page)
    page.goto("/accounts/login/")
    check_page(page)
    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_url(HOME)
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_text("logs in by itself")).to_be_visible()
    expect(page.get_by_text("last used on")).to_be_visible()
    page.get_by_role("link", name="Rename Passkey 1").click()
    expect(page.get_by_role("heading", name="Is it you?")).to_be_visible()
    page.get_by_role("link", name="use a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Rename the passkey")).to_be_visible()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Save the name").click()
    page.get_by_role("link", name="Remove Laptop").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("Your account has no passkey")).to_be_visible()
    assert not cast.ada().authenticator_set.exists()  # the recovery codes went with it
    log_out(page)
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(
        page.get_by_role("alert").filter(visible=True).or_(page.get_by_text("Incorrect code"))
    ).to_be_visible()
    page.goto("/account/")
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_an_older_key_is_asked_for_after_the_password(open_page, check_page):
    cast.ada()
    page = open_page()
    devtools, device = add_authenticator(page, verifies=False)
    log_in(page)
    add_passkey(page, by_itself=False)
    expect(page.get_by_text("10 of 10 left")).to_be_visible()
    log_out(page)
    log_in(page)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    check_page(page)
    page.goto("/account/")
    expect(page).to_have_url(re.compile("/accounts/2fa/authenticate/"))  # the password alone opens nothing
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(HOME)
    page.goto("/account/")
    expect(page.get_by_role("heading", name="ada")).to_be_visible()


def test_a_device_without_a_passkey_of_the_account_is_told(open_page):
    cast.ada()
    page = open_page()
    devtools, device = add_authenticator(page)
    page.goto("/accounts/login/")
    devtools.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed")


def test_without_scripts_the_login_offers_the_password_only(open_page):
    page = open_page(java_script_enabled=False)
    page.goto("/accounts/login/")
    expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Log in with a passkey")).to_be_hidden()
