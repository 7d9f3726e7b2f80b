"""Lab mode for shared computers, and a code for participants who stop early."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0010_public_title_and_address")]

    operations = [
        migrations.AddField(
            "experiment",
            "lab_mode",
            models.BooleanField(
                default=False, help_text="Several people take part one after another on one computer."
            ),
        ),
        migrations.AddField(
            "experiment",
            "partial_code",
            models.CharField(
                blank=True,
                help_text="Shown to participants who stop after at least one answer.",
                max_length=40,
            ),
        ),
    ]
