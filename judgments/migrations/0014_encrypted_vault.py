"""Encrypt the vault: ids and parameters of participants, with a digest by which an id is looked up."""

import json

from django.db import migrations, models

import experiments.encryption
import judgments.models.participant
from experiments.encryption import MARK, VAULT, decrypt_text, encrypt_text
from judgments.models.participant import identity_digests

BATCH = 500  # rows read at a time


def encrypt_rows(apps, schema_editor):
    """Encrypt each row that is not yet; the raw columns are read, because the fields decrypt."""
    table = schema_editor.quote_name(apps.get_model("judgments", "PlatformIdentity")._meta.db_table)
    for pk, study, external_id, parameters in raw_rows(schema_editor, table):
        plain_id = decrypt_text(external_id or "", purpose=VAULT)
        stored = parameters or ""
        if stored.startswith(MARK):
            encrypted = stored
        else:
            values = json.loads(stored) if stored else {}
            encrypted = encrypt_text(json.dumps(values, ensure_ascii=False), purpose=VAULT) if values else ""
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET external_id = %s, external_digest = %s, parameters = %s WHERE id = %s",
                [encrypt_text(plain_id, purpose=VAULT), identity_digests(study, plain_id)[0], encrypted, pk],
            )


def decrypt_rows(apps, schema_editor):
    """Write the plain values back, as the columns held them before."""
    table = schema_editor.quote_name(apps.get_model("judgments", "PlatformIdentity")._meta.db_table)
    for pk, _, external_id, parameters in raw_rows(schema_editor, table):
        plain = decrypt_text(parameters or "", purpose=VAULT) or "{}"
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET external_id = %s, parameters = %s WHERE id = %s",
                [decrypt_text(external_id or "", purpose=VAULT), plain, pk],
            )


def raw_rows(schema_editor, table):
    last = 0
    while True:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                f"SELECT id, experiment_id, external_id, parameters FROM {table} WHERE id > %s ORDER BY id LIMIT %s",
                [last, BATCH],
            )
            rows = cursor.fetchall()
        if not rows:
            return
        yield from rows
        last = rows[-1][0]


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0020_platform_accounts"),
        ("judgments", "0011_platform_events"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="platformidentity", name="platform_id_once_per_study"),
        migrations.RemoveIndex(model_name="platformidentity", name="identity_of_study"),
        migrations.AddField(
            model_name="platformidentity",
            name="external_digest",
            field=judgments.models.participant.DigestField(
                blank=True, default="", editable=False, max_length=43
            ),
        ),
        migrations.AlterField(
            model_name="platformidentity",
            name="external_id",
            field=experiments.encryption.EncryptedTextField(blank=True),
        ),
        migrations.AlterField(
            model_name="platformidentity",
            name="parameters",
            field=experiments.encryption.EncryptedJSONField(
                blank=True, default=dict, help_text="Personal parameters of the link, as they came."
            ),
        ),
        migrations.RunPython(encrypt_rows, decrypt_rows),
        migrations.AlterField(
            model_name="platformidentity",
            name="purge_at",
            field=models.DateField(
                blank=True,
                db_index=True,
                help_text="Set when the study closes; deleted on that day.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="platformidentity",
            index=models.Index(fields=["experiment", "external_digest"], name="identity_of_study"),
        ),
        migrations.AddConstraint(
            model_name="platformidentity",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_verified", True)),
                fields=("experiment", "recruiter", "external_digest"),
                name="platform_id_once_per_study",
            ),
        ),
    ]
