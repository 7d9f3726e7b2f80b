"""Encrypt the vault: ids and parameters of participants.

A step of its own, because PostgreSQL changes no table whose rows the same transaction has changed.
"""

import json

from django.db import migrations

from experiments.encryption import VAULT, decrypt_text, encrypt_text
from judgments.models.participant import identity_digests

BATCH = 500  # rows read at a time


def encrypt_rows(apps, schema_editor):
    """Encrypt each row; the raw columns are read, because the fields decrypt."""
    table = schema_editor.quote_name(apps.get_model("judgments", "PlatformIdentity")._meta.db_table)
    for pk, study, external_id, parameters in raw_rows(schema_editor, table):
        values = json.loads(parameters) if parameters else {}
        encrypted = encrypt_text(json.dumps(values, ensure_ascii=False), purpose=VAULT) if values else ""
        digest = identity_digests(study, external_id or "")[0]
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET external_id = %s, external_digest = %s, parameters = %s WHERE id = %s",
                [encrypt_text(external_id or "", purpose=VAULT), digest, encrypted, pk],
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
    dependencies = [("judgments", "0014_vault_columns")]

    operations = [migrations.RunPython(encrypt_rows, decrypt_rows)]
