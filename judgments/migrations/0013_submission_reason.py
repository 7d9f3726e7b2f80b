from django.db import migrations, models


class Migration(migrations.Migration):
    """Store why a submission was decided as it was."""

    dependencies = [
        ("judgments", "0011_platform_events"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="reason",
            field=models.CharField(
                blank=True, default="", help_text="Why it was decided so, for the team.", max_length=300
            ),
            preserve_default=False,
        ),
    ]
