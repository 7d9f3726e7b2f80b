"""Targets count judgments of each sentence or pair; studies that were opened keep a target for each item set."""

from django.db import migrations, models
from django.db.models import Count, F


def keep_targets_of_items(apps, schema_editor):
    """Keep the meaning of the target of studies with a version, where an item has several sentences or pairs.

    Elsewhere the two units are the same number.
    """
    Experiment = apps.get_model("experiments", "Experiment")
    MaterialSet = apps.get_model("experiments", "MaterialSet")
    opened = Experiment.objects.filter(
        versions__is_preview=False, origin="collected", materials__isnull=False
    ).distinct()
    several_sentences = set(
        MaterialSet.objects.annotate(
            n_sentences=Count("sentences", distinct=True),
            n_sentence_items=Count("sentences__item", distinct=True),
        )
        .filter(n_sentences__gt=F("n_sentence_items"))
        .values_list("pk", flat=True)
    )
    several_pairs = set(
        MaterialSet.objects.annotate(
            n_pairs=Count("pairs", distinct=True), n_pair_items=Count("pairs__good__item", distinct=True)
        )
        .filter(n_pairs__gt=F("n_pair_items"))
        .values_list("pk", flat=True)
    )
    for pk, task, materials in opened.values_list("pk", "task", "materials"):
        if materials in (several_pairs if task == "forced_choice" else several_sentences):
            Experiment.objects.filter(pk=pk).update(target_unit="item")


class Migration(migrations.Migration):
    dependencies = [("experiments", "0011_lab_mode_and_partial_code")]

    operations = [
        migrations.AddField(
            model_name="experiment",
            name="target_unit",
            field=models.CharField(
                choices=[
                    ("stimulus", "each sentence, or each pair where participants choose between two"),
                    ("item", "each item set, all its conditions together"),
                ],
                default="stimulus",
                help_text="Item sets are counted only in studies that were opened with such a target.",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="experiment",
            name="target_judgments",
            field=models.PositiveIntegerField(
                default=20, help_text="Target number of judgments of each sentence, or of each pair."
            ),
        ),
        migrations.RunPython(keep_targets_of_items, migrations.RunPython.noop),
    ]
