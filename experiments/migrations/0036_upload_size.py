"""Sizes of uploaded files, so that a quota is known without asking their storage."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0035_study_folders_and_archive")]

    operations = [
        migrations.AddField(
            "upload",
            "size",
            models.PositiveBigIntegerField(
                help_text="Bytes of the file; empty = it was uploaded before they were stored here.",
                null=True,
            ),
        ),
    ]
