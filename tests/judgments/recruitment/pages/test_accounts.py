"""Accounts of platforms on their page: connected, tested, shown by four characters, removed."""

import pytest

from experiments.models import AuditEntry, PlatformAccount
from judgments.recruitment import credentials
from tests import cast

PAGE = "/studies/agreement/campaigns/accounts/"
TOKEN = "a-token-with-many-characters-7Q4x"

pytestmark = pytest.mark.django_db


def text_of(response):
    return response.content.decode()


def connect(browser, token, **fields):
    form = {"label": "Lab", "mode": "test", "currency": "GBP", "token": token, **fields}
    return browser.post(f"{PAGE}add/prolific/", form, follow=True)


def test_a_token_is_tested_stored_and_never_shown(ada, study, account, prolific):
    prolific.platform.token = TOKEN
    page = text_of(connect(ada, TOKEN))
    assert "“Lab” is connected. Balance: 10000.00 GBP." in page
    assert "…7Q4x" in page and TOKEN not in page
    stored = PlatformAccount.objects.get(label="Lab")
    assert credentials.decrypt_secrets(stored)["token"] == TOKEN
    assert stored.checked_at is not None


def test_a_wrong_token_is_stored_with_a_sentence_that_says_so(ada, account):
    page = text_of(connect(ada, "another-token-with-many-characters"))
    assert "the connection does not work" in page
    assert "another-token" not in page


def test_an_empty_token_is_refused_beside_its_field(ada, account):
    response = connect(ada, "")
    assert response.status_code == 422
    assert PlatformAccount.objects.filter(label="Lab").exists() is False


def test_replacing_a_token_is_for_its_owner(ada, client, account, prolific):
    prolific.platform.token = TOKEN
    page = ada.post(f"{PAGE}{account.pk}/token/", {"token": TOKEN}, follow=True)
    assert "is connected" in text_of(page)
    PlatformAccount.objects.filter(pk=account.pk).update(owner=cast.ben())
    page = ada.post(f"{PAGE}{account.pk}/token/", {"token": "x" * 30}, follow=True)
    assert "belongs to another user" in text_of(page)
    account.refresh_from_db()
    assert credentials.decrypt_secrets(account)["token"] == TOKEN


def test_an_account_with_a_campaign_stays(ada, account, campaign):
    page = ada.post(f"{PAGE}{account.pk}/remove/", follow=True)
    assert "a campaign of this study uses" in text_of(page).lower()
    assert PlatformAccount.objects.filter(pk=account.pk).exists()


def test_viewers_see_accounts_and_change_none(client, account):
    client.force_login(cast.ben())
    assert "Connect Prolific" not in text_of(client.get(PAGE))
    assert connect(client, TOKEN).status_code == 403
    assert client.post(f"{PAGE}{account.pk}/remove/").status_code == 403
    client.force_login(cast.cleo())
    assert client.get(PAGE).status_code == 404


def test_an_account_of_one_study_is_attached_to_another(ada, account):
    other = cast.study("islands")
    page = "/studies/islands/campaigns/accounts/"
    assert "Double" in text_of(ada.get(page))
    ada.post(f"{page}{account.pk}/attach/")
    assert list(credentials.usable_accounts(other)) == [account]


def test_events_are_received_and_stopped(ada, account, prolific):
    page = ada.post(f"{PAGE}{account.pk}/events/", follow=True, secure=True)
    assert "Prolific announces changes at https://testserver/hooks/prolific/" in text_of(page)
    assert "Stop events" in text_of(page)
    assert prolific.platform.subscriptions
    page = ada.post(f"{PAGE}{account.pk}/events/", follow=True, secure=True)
    assert "Prolific sends no more events" in text_of(page)
    account.refresh_from_db()
    assert account.options["subscriptions"] == []
    assert list(
        AuditEntry.objects.filter(action__startswith="platform events")
        .order_by("pk")
        .values_list("action", "user")
    ) == [("platform events switched on", cast.ada().pk), ("platform events switched off", cast.ada().pk)]
