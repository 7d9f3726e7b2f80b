"""Sets of pairs drawn from paradigms, and what was changed in them by hand."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment
from experiments.models.generation.sharing import Shared, SharedQuerySet
from experiments.models.job import Job
from experiments.models.material import MaterialSet
from experiments.models.team import AppendOnly


class PairSet(Shared):
    """Pairs drawn once from some paradigms, to read and edit before they become materials."""

    name = models.CharField(max_length=150)
    language = models.CharField(max_length=35, default="en")
    n_each = models.PositiveIntegerField(help_text="Pairs of each paradigm.")
    seed = models.PositiveBigIntegerField(default=0)
    recipe = models.JSONField(
        default=list,
        help_text="Paradigms: uid, SHA-256, version and id of an own one, version of the lexicon.",
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    drawn_at = models.DateTimeField(null=True, blank=True, help_text="Empty while the pairs are being drawn.")
    materials = models.ForeignKey(
        MaterialSet,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="pair_sets",
        help_text="The materials made of it; from then on nothing is edited.",
    )
    validations = models.ManyToManyField(
        Experiment,
        blank=True,
        related_name="validated_pair_sets",
        help_text="Studies in which people judge it.",
    )

    objects = SharedQuerySet["PairSet"].as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(lab__isnull=True) | Q(study__isnull=True), name="pair_set_shared_once"
            ),
            models.CheckConstraint(condition=Q(n_each__gte=1), name="pair_set_has_pairs"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def paradigms(self) -> list[str]:
        """Names of the paradigms."""
        return [entry["uid"] for entry in self.recipe]


class GeneratedPair(models.Model):
    """A pair as it was drawn, and as it reads now."""

    pair_set = models.ForeignKey(PairSet, on_delete=models.CASCADE, related_name="pairs")
    key = models.CharField(max_length=120, help_text="Paradigm and number, as in the materials.")
    paradigm = models.CharField(max_length=80)
    good = models.TextField(help_text="As it reads now.")
    bad = models.TextField(help_text="As it reads now.")
    fields = models.JSONField(help_text="The row as it was drawn; never changed.")
    is_struck = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["pair_set", "key"], name="generated_pair_once_per_set")
        ]

    def __str__(self) -> str:
        return self.key


class PairEdit(models.Model):
    """One change of a pair by hand: who, when, from what, to what; append-only."""

    class Kind(models.TextChoices):
        """What was done."""

        EDITED = "edited", "edited"
        STRUCK = "struck", "struck"
        RESTORED = "restored", "restored"

    pair = models.ForeignKey(GeneratedPair, on_delete=models.CASCADE, related_name="edits")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    good_before = models.TextField()
    bad_before = models.TextField()
    good_after = models.TextField()
    bad_after = models.TextField()
    reason = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["edited", "struck", "restored"]), name="pair_edit_kind_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.pair} {self.kind}"

    def save(self, *args: Any, **options: Any) -> None:
        """Add the entry; refuse to change one."""
        if self.pk is not None and not self._state.adding:
            raise AppendOnly("changes of pairs never change")
        super().save(*args, **options)
