"""Versions made to be tried, numbered apart from those of the study."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0005_reward")]

    operations = [
        migrations.AddField(
            "experimentversion",
            "is_preview",
            models.BooleanField(
                default=False, help_text="Made to be tried by researchers; numbered apart, never counted."
            ),
        ),
        migrations.RemoveConstraint("experimentversion", "version_number_once"),
        migrations.AddConstraint(
            "experimentversion",
            models.UniqueConstraint(
                fields=["experiment", "is_preview", "number"], name="version_number_once"
            ),
        ),
    ]
