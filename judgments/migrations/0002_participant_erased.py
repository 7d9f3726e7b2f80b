"""When a person's answers were deleted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judgments", "0001_initial")]

    operations = [
        migrations.AddField(
            "participant",
            "erased_at",
            models.DateTimeField(
                blank=True, help_text="When the answers were deleted at the person's wish.", null=True
            ),
        ),
    ]
