"""The end of a session: a code, or a way back to another site."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0001_initial")]

    operations = [
        migrations.AddField(
            "experiment",
            "completion",
            models.CharField(
                choices=[
                    ("code", "a code to copy"),
                    ("redirect", "a way back to another site, and the code"),
                ],
                default="code",
                max_length=8,
            ),
        ),
        migrations.AddField(
            "experiment",
            "completion_url",
            models.CharField(
                blank=True, help_text="https://…, with {code}, {participant} or {session}.", max_length=500
            ),
        ),
        migrations.AddField(
            "experiment",
            "screen_out_code",
            models.CharField(
                blank=True, help_text="Shown to people whom the study does not fit.", max_length=40
            ),
        ),
    ]
