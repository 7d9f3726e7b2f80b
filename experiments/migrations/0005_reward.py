"""What a complete session is paid."""

from django.core import validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0004_coming_back")]

    operations = [
        migrations.AddField(
            "experiment",
            "reward_minor",
            models.PositiveIntegerField(
                default=0, help_text="Pay for a complete session in minor units (cents, pence)."
            ),
        ),
        migrations.AddField(
            "experiment",
            "currency",
            models.CharField(
                default="GBP", max_length=3, validators=[validators.RegexValidator("^[A-Z]{3}$")]
            ),
        ),
    ]
