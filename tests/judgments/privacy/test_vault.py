"""The vault: encrypted with a ring of keys, looked up exactly, and rotated."""

import json

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core.management import call_command
from django.db import connection

from analysis.errors import BadInput
from experiments import encryption
from experiments.models import PlatformAccount, RequestKey, Webhook
from experiments.operation import tables
from experiments.webhooks import endpoints
from judgments.models import Participant, PlatformIdentity
from judgments.recruitment import credentials
from tests import cast

pytestmark = pytest.mark.django_db
WHO = "5f0c1d2e3a4b5c6d7e8f9012"


def stored_rows():
    with connection.cursor() as cursor:
        cursor.execute("SELECT external_id, external_digest, parameters FROM judgments_platformidentity")
        return cursor.fetchall()


def identity(study, name="pia", external_id=WHO, **fields):
    person = Participant.objects.create(experiment=study, pseudonym=name)
    return PlatformIdentity.objects.create(
        participant=person,
        experiment=study,
        recruiter="prolific",
        external_id=external_id,
        parameters={"email": "mia@example.org"},
        **fields,
    )


def rotated(**options):
    call_command("rotate_keys", **options)


def test_the_database_holds_no_platform_id_and_the_row_gives_it_back():
    study = cast.study("agreement")
    row = identity(study)
    assert WHO not in str(stored_rows()) and "mia@" not in str(stored_rows())
    row.refresh_from_db()
    assert (row.external_id, row.parameters) == (WHO, {"email": "mia@example.org"})


def test_an_id_is_looked_up_exactly_and_in_its_study_only():
    study, other = cast.study("agreement"), cast.study("other")
    row, elsewhere = identity(study), identity(other)
    assert list(PlatformIdentity.objects.with_id(study, WHO)) == [row]
    assert row.external_digest != elsewhere.external_digest
    for name in (WHO.upper(), WHO[:-1], f"{WHO} ", ""):
        assert not PlatformIdentity.objects.with_id(study, name).exists()


def test_an_id_that_looks_encrypted_is_stored_like_any_other():
    study = cast.study("agreement")
    row = identity(study, external_id="enc1:mine")
    row.refresh_from_db()
    assert row.external_id == "enc1:mine"


def test_a_verified_person_returns_to_the_same_participant_while_keys_change(settings):
    study = cast.study("agreement")
    proven = {"recruiter": "prolific", "external_id": WHO, "is_verified": True}
    first = cast.begin(study, "one", **proven)
    settings.PLATFORM_KEY = "a new key"
    assert cast.begin(study, "two", **proven).participant == first.participant
    rotated()
    assert cast.begin(study, "three", **proven).participant == first.participant
    assert PlatformIdentity.objects.count() == 1


def test_rotation_makes_the_earlier_key_needless(settings, capsys):
    settings.PLATFORM_KEY = "first key"
    study = cast.study("agreement")
    identity(study)
    account = credentials.add_account(
        study, platform="prolific", label="lab", secrets={"token": "prolific-token-1234"}, by=cast.ada()
    )
    hook = endpoints.add(study, "https://lab.example.org/", events=["study.full"], by=cast.ada())
    hook = endpoints.rotate_secret(hook, by=cast.ada())
    RequestKey.objects.create(user=cast.ada(), key="k", status=201, answer='{"link": "secret"}')
    secret = generate_totp_secret()
    factor = TOTP.activate(cast.ada(), secret).instance
    assert secret not in json.dumps(Authenticator.objects.get(pk=factor.pk).data)

    settings.PLATFORM_KEY, settings.PLATFORM_KEYS_EARLIER = "second key", ["first key"]
    rotated(dry_run=True, json=True)
    assert json.loads(capsys.readouterr().out) == {
        "dry_run": True, "accounts": 1, "identities": 1, "second_factors": 1, "webhooks": 1,
        "request_keys": 1, "total": 5
    }  # fmt: skip
    rotated()
    capsys.readouterr()
    rotated(json=True)
    assert json.loads(capsys.readouterr().out)["total"] == 0

    settings.PLATFORM_KEYS_EARLIER, settings.SECRET_KEY = [], "another secret key of some length, 40 signs"
    assert PlatformIdentity.objects.with_id(study, WHO).get().external_id == WHO
    assert credentials.decrypt_secrets(PlatformAccount.objects.get(pk=account.pk)) == {
        "token": "prolific-token-1234"
    }
    stored = Authenticator.objects.get(pk=factor.pk).data["secret"]
    assert encryption.decrypt_text(stored, purpose=encryption.SECOND_FACTOR) == secret
    row = Webhook.objects.get()
    assert (row.secret, row.earlier_secret) == (hook.secret, hook.earlier_secret)
    assert RequestKey.objects.get().answer == '{"link": "secret"}'


def test_without_its_key_the_vault_says_which_setting_lacks(settings):
    row = identity(cast.study("agreement"))
    settings.SECRET_KEY = "another secret key of some length, 40 signs"
    with pytest.raises(BadInput, match="PLATFORM_KEYS_EARLIER"):
        row.refresh_from_db()


def test_second_factors_from_before_the_encryption_still_log_in():
    Authenticator.objects.create(
        user=cast.ada(), type=Authenticator.Type.TOTP, data={"secret": "PLAINSECRET"}
    )
    assert encryption.decrypt_text("PLAINSECRET", purpose=encryption.SECOND_FACTOR) == "PLAINSECRET"
    rotated()
    stored = Authenticator.objects.get().data["secret"]
    assert stored != "PLAINSECRET"
    assert encryption.decrypt_text(stored, purpose=encryption.SECOND_FACTOR) == "PLAINSECRET"


def test_a_backup_holds_no_platform_id_and_restores_the_vault():
    study = cast.study("agreement")
    row = identity(study)
    content = b"".join(tables.lines(PlatformIdentity, using="default"))
    assert WHO.encode() not in content and b"mia@" not in content
    before = tables.table_checksum(PlatformIdentity, using="default")
    PlatformIdentity.objects.all().delete()
    names = [column.attname for column in tables.stored_columns(PlatformIdentity)]
    tables.insert(PlatformIdentity, names, content, using="default")
    assert tables.table_checksum(PlatformIdentity, using="default") == before
    restored = PlatformIdentity.objects.with_id(study, WHO).get()
    assert (restored.pk, restored.parameters) == (row.pk, {"email": "mia@example.org"})
