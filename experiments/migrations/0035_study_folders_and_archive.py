"""Folders of studies, and the archive."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0034_webhooks")]

    operations = [
        migrations.AddField(
            "experiment",
            "archived_at",
            models.DateTimeField(
                blank=True, help_text="Since when it is in the archive; empty = it is not.", null=True
            ),
        ),
        migrations.AddField(
            "experiment",
            "folder",
            models.CharField(
                blank=True,
                db_default="",
                help_text="Name of the folder on the start page, if any.",
                max_length=80,
            ),
        ),
        migrations.AddConstraint(
            "experiment",
            models.CheckConstraint(
                condition=models.Q(("archived_at__isnull", True))
                | models.Q(("status__in", ["draft", "paused", "closed"])),
                name="archived_takes_nobody",
            ),
        ),
    ]
