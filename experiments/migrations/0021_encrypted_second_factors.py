"""Encrypt the secrets of second factors that are stored in plain text."""

from django.db import migrations

from experiments.encryption import SECOND_FACTOR, decrypt_text, encrypt_text


def each_secret(apps, change):
    for factor in apps.get_model("mfa", "Authenticator").objects.exclude(type="webauthn"):
        secrets = {name: change(factor.data[name]) for name in ("secret", "seed") if factor.data.get(name)}
        codes = [change(code) for code in factor.data.get("migrated_codes") or []]
        factor.data = {**factor.data, **secrets, **({"migrated_codes": codes} if codes else {})}
        factor.save(update_fields=["data"])


def encrypt(apps, schema_editor):
    each_secret(apps, lambda text: encrypt_text(decrypt_text(text, purpose=SECOND_FACTOR), purpose=SECOND_FACTOR))


def decrypt(apps, schema_editor):
    each_secret(apps, lambda text: decrypt_text(text, purpose=SECOND_FACTOR))


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0020_platform_accounts"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [migrations.RunPython(encrypt, decrypt)]
