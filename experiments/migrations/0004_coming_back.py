"""How long people may be away."""

from django.core import validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0003_comprehension_quiz")]

    operations = [
        migrations.AddField(
            "experiment",
            "resume_gap_minutes",
            models.PositiveIntegerField(
                default=10, validators=[validators.MinValueValidator(1), validators.MaxValueValidator(1440)]
            ),
        ),
        migrations.AddField(
            "experiment",
            "resume_limit_days",
            models.PositiveIntegerField(
                default=7, validators=[validators.MinValueValidator(1), validators.MaxValueValidator(365)]
            ),
        ),
    ]
