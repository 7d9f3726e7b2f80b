"""Index and uniqueness of the vault by the digest of an id."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judgments", "0015_encrypt_vault")]

    operations = [
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
