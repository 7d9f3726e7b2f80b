"""Pay can be refused with a reason, and every entry taken back by another."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judgments", "0002_participant_erased")]

    operations = [
        migrations.AddField("payment", "reason", models.CharField(blank=True, max_length=300)),
        migrations.AddField(
            "payment",
            "reverses",
            models.OneToOneField(
                blank=True,
                null=True,
                on_delete=models.deletion.PROTECT,
                related_name="reversal",
                to="judgments.payment",
            ),
        ),
        migrations.AlterField(
            "payment",
            "kind",
            models.CharField(
                choices=[
                    ("reward", "reward"),
                    ("bonus", "bonus"),
                    ("screen_out", "screen-out pay"),
                    ("not_paid", "not paid"),
                    ("reversal", "taken back"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            "payment",
            models.CheckConstraint(
                condition=~models.Q(kind="not_paid") | (models.Q(amount_minor=0) & ~models.Q(reason="")),
                name="not_paid_has_a_reason",
            ),
        ),
        migrations.AddConstraint(
            "payment",
            models.CheckConstraint(
                condition=models.Q(kind="reversal", reverses__isnull=False)
                | (~models.Q(kind="reversal") & models.Q(reverses__isnull=True)),
                name="reversal_names_its_entry",
            ),
        ),
    ]
