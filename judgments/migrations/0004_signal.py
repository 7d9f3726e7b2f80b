"""Quality signals as computed last."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judgments", "0003_payment_decisions")]

    operations = [
        migrations.CreateModel(
            name="Signal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("version", models.PositiveIntegerField()),
                ("value", models.FloatField()),
                ("reason", models.CharField(max_length=300)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=models.deletion.CASCADE, related_name="signals", to="judgments.session"
                    ),
                ),
            ],
            options={"ordering": ["session", "name"]},
        ),
        migrations.AddConstraint(
            "signal", models.UniqueConstraint(fields=("session", "name"), name="signal_once_per_session")
        ),
    ]
