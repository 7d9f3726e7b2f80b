"""Where a researcher is logged in, and ending logins."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from experiments.accounts.login_sessions import browser_name
from experiments.models import LoginSession
from experiments.periodic import delete_expired_rows
from tests import cast

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari/604"


def logged_in(name="ada", browser=FIREFOX):
    client = Client(headers={"user-agent": browser}, REMOTE_ADDR="203.0.113.9")
    assert client.post("/accounts/login/", {"login": name, "password": f"{name}-password"}).status_code == 302
    return client


def is_logged_in(client):
    return client.get("/account/").status_code == 200


def test_the_account_lists_logins_by_browser_and_stores_no_address():
    cast.ada()
    here, _ = logged_in(), logged_in(browser=IPHONE)
    page = here.get("/account/").content.decode()
    assert "Firefox on Linux" in page and "Safari on iOS" in page and page.count("this one") == 1
    for row in LoginSession.objects.all():
        assert row.session_key not in page
        assert "203.0.113.9" not in str(row.get_decoded()) and "140.0" not in str(row.get_decoded())


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_a_closed_account_opens_nothing():
    ada = cast.ada()
    browser = logged_in()
    cookie = browser.cookies["sessionid"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and len(cookie.value) >= 22
    assert is_logged_in(browser)
    ada.is_active = False
    ada.save(update_fields=["is_active"])
    assert not is_logged_in(browser)


def test_one_login_or_all_others_are_ended():
    cast.ada()
    cast.ben()
    here, phone, library, bens = logged_in(), logged_in(browser=IPHONE), logged_in(), logged_in("ben")
    page = here.get("/account/").content.decode()
    (number,) = re.findall(r'name="session" value="(\w+)">\s*<p><b>Safari on iOS', page)
    assert bens.post("/account/sessions/", {"session": number}).status_code == 302
    assert is_logged_in(phone)
    here.post("/account/sessions/", {"session": number})
    assert not is_logged_in(phone) and is_logged_in(library)
    answer = here.post("/account/sessions/", follow=True).content.decode()
    assert "1 other login ended" in answer
    assert not is_logged_in(library) and is_logged_in(here) and is_logged_in(bens)
    assert "There was no other login" in here.post("/account/sessions/", follow=True).content.decode()
    assert here.get("/account/sessions/").status_code == 405


def test_a_new_password_ends_the_other_logins():
    ada = cast.ada()
    here, phone = logged_in(), logged_in(browser=IPHONE)
    new = "a-longer-secret-7"
    here.post(
        "/accounts/password/change/", {"oldpassword": "ada-password", "password1": new, "password2": new}
    )
    assert is_logged_in(here) and not is_logged_in(phone)
    assert LoginSession.objects.filter(user=ada).count() == 1
    ada.refresh_from_db()
    ada.set_password("another-secret-8")  # as the administration and the command line do
    ada.save()
    assert not is_logged_in(here) and not LoginSession.objects.filter(user=ada).exists()


def test_use_is_stored_once_a_day(django_assert_num_queries):
    cast.ada()
    client = logged_in()
    LoginSession.objects.update(used_on=None)
    session = client.session
    session["used_on"] = "2026-01-01"
    session.save()
    client.get("/account/")
    row = LoginSession.objects.get()
    assert row.used_on == timezone.now().date() and row.began_at is not None
    before = row.expire_date
    client.get("/account/")
    assert LoginSession.objects.get().expire_date == before


def test_expired_logins_are_deleted_by_the_scheduler():
    cast.ada()
    logged_in()
    past = timezone.now() - timedelta(hours=1)
    LoginSession.objects.update(expire_date=past)
    delete_expired_rows()
    assert not LoginSession.objects.exists()


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Chrome/140.0 Safari/537.36", "Chrome on macOS"),
        ("curl/8.0", "A program"),
        ("", "A program"),
    ],
)
def test_browsers_are_named_without_versions(user_agent, name):
    assert browser_name(user_agent) == name
