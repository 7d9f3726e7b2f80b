"""Questions about the instructions, and what two failed attempts lead to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0002_completion_by_redirect")]

    operations = [
        migrations.AddField(
            "experiment",
            "quiz",
            models.JSONField(blank=True, default=list, help_text="Questions about the instructions."),
        ),
        migrations.AddField(
            "experiment",
            "quiz_failure",
            models.CharField(
                choices=[("go_on", "go on, and note it"), ("screen_out", "end kindly")],
                default="go_on",
                max_length=10,
            ),
        ),
    ]
