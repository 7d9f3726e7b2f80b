"""Designs and presentation lists: which trial each list shows, at which position."""

from typing import Any

from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment, ExperimentVersion
from experiments.models.material import Item, MaterialSet, MinimalPair, Sentence


class TrialKind(models.TextChoices):
    """Purpose of a trial."""

    TARGET = "target", "target"
    FILLER = "filler", "filler"
    CATCH = "catch", "catch"
    PRACTICE = "practice", "practice"
    ANCHOR = "anchor", "anchor"


class Design(models.Model):
    """Distribution of items and conditions over lists."""

    class Kind(models.TextChoices):
        """Scheme of the design."""

        LATIN_SQUARE = "latin_square", "Latin square: each list has every item in one condition"
        SAMPLE = "sample", "Sample: each list has k items of every paradigm"
        PARADIGM = "paradigm", "One paradigm: each list has k items of a single paradigm"
        SPLIT = "split", "Split: all items are dealt over the lists, each list has a part of every paradigm"
        ALL = "all", "All: each list has everything"

        @classmethod
        def sampling(cls) -> set[str]:
            """Schemes in which lists have k items of a paradigm."""
            return {cls.SAMPLE, cls.PARADIGM}

    class AnchorOrder(models.TextChoices):
        """Order of the anchors."""

        FIXED = "fixed", "as written"
        RANDOM = "random", "random, as the order of the trials"

    class Order(models.TextChoices):
        """Who shares a random order of the trials."""

        PARTICIPANT = "participant", "A new order for each participant"
        LIST = "list", "One order for each list"

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, related_name="design")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.LATIN_SQUARE)
    n_lists = models.PositiveIntegerField(default=4)
    items_per_paradigm = models.PositiveIntegerField(
        null=True, blank=True, help_text="Items per paradigm and list (k) in the sample schemes."
    )
    rounds = models.JSONField(
        default=list,
        blank=True,
        help_text='Further rounds: [{"kind": "sample", "items_per_paradigm": 15, "items": "new", …}].',
    )
    left_out = models.JSONField(
        default=dict,
        blank=True,
        help_text='Items not shown: {"materials": checksum, "items": {"identical_members": ["17"]}}.',
    )
    filler_materials = models.ForeignKey(
        MaterialSet, null=True, blank=True, on_delete=models.PROTECT, related_name="filler_designs"
    )
    filler_ratio = models.FloatField(
        null=True, blank=True, help_text="Fillers per target; empty = all fillers."
    )
    anchor_order = models.CharField(max_length=6, choices=AnchorOrder.choices, default=AnchorOrder.FIXED)
    catch_per_list = models.PositiveIntegerField(default=0)
    trials_per_block = models.PositiveIntegerField(
        default=50, help_text="Number of trials between two breaks."
    )
    order = models.CharField(  # the default of the database is for studies made before this field
        max_length=12, choices=Order.choices, default=Order.PARTICIPANT, db_default=Order.LIST
    )
    constraints = models.JSONField(
        default=dict,
        blank=True,
        help_text='Order: {"no_adjacent": ["paradigm"], "min_distance": {"item": 3}, "fillers_between": 1}.',
    )
    seed = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(n_lists__gte=1), name="design_has_a_list"),
            models.CheckConstraint(
                condition=Q(filler_ratio__isnull=True) | Q(filler_ratio__gte=0),
                name="design_filler_ratio_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.experiment}"

    def left_out_items(self, materials: MaterialSet | None) -> dict[str, list[str]]:
        """Return the keys of the items left out, by reason; none of other materials."""
        return _item_keys(self.left_out, materials)

    @property
    def fillers_left_out(self) -> dict[str, list[str]]:
        """The keys of the items left out of the filler set, by reason; none of another filler set."""
        return _item_keys(self.left_out.get("fillers", {}), self.filler_materials)

    def leave_out(
        self, items: dict[str, list[str]], *, materials: MaterialSet, of_fillers: bool = False
    ) -> None:
        """Set the items left out of the materials or of the filler set, by reason, without storing them."""
        stored = {"materials": materials.checksum, "items": items} if items else {}
        before = self.left_out
        fillers = stored if of_fillers else before.get("fillers", {})
        targets = {name: before[name] for name in before if name != "fillers"} if of_fillers else stored
        self.left_out = {**targets, **({"fillers": fillers} if fillers else {})}


def _item_keys(left_out: dict[str, Any], materials: MaterialSet | None) -> dict[str, list[str]]:
    is_same = materials is not None and left_out.get("materials") == materials.checksum
    return dict(left_out.get("items", {})) if is_same else {}


class PresentationList(models.Model):
    """A presentation list of a frozen version: the trials that a participant gets."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="lists")
    version = models.ForeignKey(ExperimentVersion, on_delete=models.CASCADE, related_name="lists")
    label = models.CharField(max_length=60)
    round = models.PositiveIntegerField(default=1, help_text="Round of the study that shows the list.")
    n_trials = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["version", "label"], name="list_label_once_per_version"),
            models.CheckConstraint(condition=Q(round__gte=1), name="list_round_from_one"),
        ]

    def __str__(self) -> str:
        return self.label


class PlannedTrial(models.Model):
    """One trial of a presentation list."""

    list = models.ForeignKey(PresentationList, on_delete=models.CASCADE, related_name="planned_trials")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=TrialKind.choices, default=TrialKind.TARGET)
    block = models.PositiveIntegerField(default=1)
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    sentence = models.ForeignKey(Sentence, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    pair = models.ForeignKey(MinimalPair, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    expected_first = models.BooleanField(
        null=True, blank=True, help_text="Forced choice: which member comes first."
    )
    payload = models.JSONField(
        default=dict,
        blank=True,
        help_text="Content of catch, practice and anchor trials, which have no item.",
    )

    class Meta:
        ordering = ["list", "position"]
        constraints = [
            models.UniqueConstraint(fields=["list", "position"], name="planned_position_once_per_list"),
            models.CheckConstraint(condition=Q(position__gte=1), name="planned_position_from_one"),
            models.CheckConstraint(condition=Q(kind__in=TrialKind.values), name="planned_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.list} {self.position}"
