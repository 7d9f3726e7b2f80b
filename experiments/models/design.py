"""A design and the lists it makes: which trial each list shows, at which position."""

from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment, ExperimentVersion
from experiments.models.material import Item, MaterialSet, MinimalPair, Sentence


class TrialKind(models.TextChoices):
    """Why a trial is in a session."""

    TARGET = "target", "target"
    FILLER = "filler", "filler"
    CATCH = "catch", "catch"
    PRACTICE = "practice", "practice"
    ANCHOR = "anchor", "anchor"


class Design(models.Model):
    """How items and conditions become lists."""

    class Kind(models.TextChoices):
        """The scheme."""

        LATIN_SQUARE = "latin_square", "Latin square: each list has every item in one condition"
        SAMPLE = "sample", "Sample: each list has k items of every paradigm"
        PARADIGM = "paradigm", "One paradigm: each list has k items of a single paradigm"
        ALL = "all", "All: each list has everything"

        @classmethod
        def sampling(cls) -> set[str]:
            """Whether lists hold k items of a paradigm."""
            return {cls.SAMPLE, cls.PARADIGM}

    class AnchorOrder(models.TextChoices):
        """In which order anchors come."""

        FIXED = "fixed", "as written"
        RANDOM = "random", "by chance, each list in an order of its own"

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, related_name="design")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.LATIN_SQUARE)
    n_lists = models.PositiveIntegerField(default=4)
    items_per_paradigm = models.PositiveIntegerField(
        null=True, blank=True, help_text="k of the sample design."
    )
    rounds = models.JSONField(
        default=list,
        blank=True,
        help_text='Further rounds: [{"kind": "sample", "items_per_paradigm": 15, "items": "new", …}].',
    )
    filler_materials = models.ForeignKey(
        MaterialSet, null=True, blank=True, on_delete=models.PROTECT, related_name="filler_designs"
    )
    filler_ratio = models.FloatField(
        null=True, blank=True, help_text="Fillers for each target; empty takes all fillers."
    )
    anchor_order = models.CharField(max_length=6, choices=AnchorOrder.choices, default=AnchorOrder.FIXED)
    catch_per_list = models.PositiveIntegerField(default=0)
    trials_per_block = models.PositiveIntegerField(default=50, help_text="A break is offered after so many.")
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


class PresentationList(models.Model):
    """One list of a frozen version: the trials a participant gets."""

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
    """One place of a list."""

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
