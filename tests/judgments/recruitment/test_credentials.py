"""Tokens of platform accounts: encrypted in the database, used by their studies only."""

import pytest
from django.db import connection

from analysis.errors import BadInput
from experiments.models import AuditEntry, PlatformAccount
from judgments.recruitment import credentials
from tests import cast

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-prolific-with-many-characters-7Q4x"


@pytest.fixture
def study():
    return cast.study("agreement")


@pytest.fixture
def account(study):
    return credentials.add_account(
        study, platform="prolific", label="Lab", secrets={"token": f" {TOKEN}\n"}, by=cast.ada()
    )


def test_the_database_and_the_history_hold_no_token(account):
    with connection.cursor() as cursor:
        cursor.execute("SELECT secrets FROM experiments_platformaccount")
        (stored,) = cursor.fetchone()
    assert TOKEN.encode() not in bytes(stored)
    assert TOKEN not in str(AuditEntry.objects.values_list("details", flat=True))
    account.refresh_from_db()
    assert credentials.decrypt_secrets(account) == {"token": TOKEN}
    assert str(account) == "Lab (…7Q4x)"
    assert account.mode == "test"


def test_another_key_gives_a_sentence_and_no_token(account, settings):
    settings.SECRET_KEY = "another key"
    with pytest.raises(BadInput, match="PLATFORM_KEY or SECRET_KEY was changed"):
        credentials.decrypt_secrets(account)


def test_only_the_owner_lets_another_study_use_an_account(account):
    other = cast.study("islands")
    assert not credentials.usable_accounts(other).exists()
    with pytest.raises(BadInput, match="belongs to another user"):
        credentials.attach(account, other, by=cast.ben())
    credentials.attach(account, other, by=cast.ada())
    assert credentials.usable_accounts(other, "prolific").get() == account


def test_an_account_without_studies_is_deleted_and_one_with_campaigns_is_kept(account, study):
    campaign = study.campaigns.create(name="c", recruiter="prolific", account=account)
    with pytest.raises(BadInput, match="a campaign of this study uses"):
        credentials.detach(account, study, by=cast.ada())
    campaign.delete()
    credentials.detach(account, study, by=cast.ada())
    assert not PlatformAccount.objects.exists()


@pytest.mark.parametrize("token", ["", "two words", "naïve-token-naïve", "x" * 3000])
def test_a_token_that_cannot_be_one_is_refused(study, token):
    with pytest.raises(BadInput, match="API token is"):
        credentials.add_account(
            study, platform="prolific", label="Lab", secrets={"token": token}, by=cast.ada()
        )


def test_a_secret_of_the_platform_joins_those_of_the_account(account):
    credentials.add_secret(account, "webhook_secret", "s")
    account.refresh_from_db()
    assert credentials.decrypt_secrets(account) == {"token": TOKEN, "webhook_secret": "s"}
