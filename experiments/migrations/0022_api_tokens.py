"""Tokens of the API by hash, with scopes and an end; the tokens in use go on for a year.

The plain tokens are deleted. They cannot be restored from their hashes, so the reverse leaves none.
"""

import hashlib
from datetime import timedelta

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

EVERY_SCOPE = ["read", "write", "people", "money"]


def hash_tokens(apps, schema_editor):
    plain = apps.get_model("authtoken", "Token").objects
    expires_at = timezone.now() + timedelta(days=365)
    hashed = [
        {"user_id": row.user_id, "digest": hashlib.sha256(row.key.encode()).hexdigest(), "hint": row.key[-4:]}
        for row in plain.all()
    ]
    model = apps.get_model("experiments", "ApiToken")
    model.objects.bulk_create(model(**row, scopes=EVERY_SCOPE, expires_at=expires_at) for row in hashed)
    plain.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("authtoken", "0004_alter_tokenproxy_options"),
        ("experiments", "0021_encrypted_second_factors"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(default="API token", max_length=60)),
                (
                    "digest",
                    models.CharField(
                        editable=False, help_text="SHA-256 of the token.", max_length=64, unique=True
                    ),
                ),
                ("hint", models.CharField(blank=True, help_text="Its last characters.", max_length=4)),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("last_used_on", models.DateField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-created_at", "-id"]},
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.UniqueConstraint(fields=("user", "name"), name="token_name_once_per_user"),
        ),
        migrations.RunPython(hash_tokens, migrations.RunPython.noop),
    ]
