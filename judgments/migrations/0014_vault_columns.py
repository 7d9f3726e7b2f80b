"""Columns of the vault that hold encrypted text, and a digest by which an id is looked up."""

from django.db import migrations, models

import experiments.encryption
import judgments.models.participant


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0020_platform_accounts"),
        ("judgments", "0013_submission_reason"),
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
    ]
