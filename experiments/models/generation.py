"""Stored lexicons, paradigms and pair sets, and with whom they are shared."""

from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment
from experiments.models.job import Job
from experiments.models.lab import Lab, LabMembership, in_team
from experiments.models.material import MaterialSet
from experiments.models.team import AppendOnly

Row = TypeVar("Row", bound="Shared")


class SharedQuerySet(models.QuerySet[Row]):
    """Queries on shared rows."""

    def visible_to(self, user: Any) -> "SharedQuerySet[Row]":
        """Return the rows that the user owns, or that the user's lab or study shares; staff see all."""
        if user.is_staff:
            return self
        return self.filter(Q(owner=user) | Q(lab__memberships__user=user) | in_team(user, "study")).distinct()

    def editable_by(self, user: Any) -> "SharedQuerySet[Row]":
        """Return the rows that the user may change: own ones, and those of labs and studies as an editor."""
        if user.is_staff:
            return self
        # Two conditions on one membership stand in one filter, so that both hold for the same row.
        in_lab = Q(lab__memberships__user=user, lab__memberships__role__in=LabMembership.Role.editing())
        return self.filter(Q(owner=user) | in_lab | in_team(user, "study", editing=True)).distinct()

    def with_newest(self) -> "SharedQuerySet[Row]":
        """Fetch the newest version of each row in one query, for lists."""
        relation: Any = self.model._meta.get_field("versions")
        versions, owner = relation.related_model.objects, relation.field.name
        later = versions.filter(**{owner: models.OuterRef(owner)}, number__gt=models.OuterRef("number"))
        newest = versions.filter(~models.Exists(later))
        return self.prefetch_related(models.Prefetch("versions", newest, to_attr="newest_versions"))


class Shared(models.Model):
    """A row of one owner, perhaps shared with one lab or with the team of one study."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    lab = models.ForeignKey(Lab, null=True, blank=True, on_delete=models.SET_NULL, related_name="%(class)ss")
    study = models.ForeignKey(
        Experiment, null=True, blank=True, on_delete=models.SET_NULL, related_name="%(class)ss"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    @property
    def shared_with(self) -> str:
        """Visibility of the row beside its owner."""
        if self.lab is not None:
            return f"the lab {self.lab}"
        return f"the team of {self.study}" if self.study is not None else ""


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
        """Kind of change."""

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


class WordList(Shared):
    """Rows of a researcher beside the shipped lexicon; those of the newest version are in use."""

    name = models.CharField(max_length=80, help_text="Name of the file, as messages name it.")
    language = models.CharField(max_length=35, default="en")
    source = models.CharField(max_length=500, help_text="Where the words come from.")
    licence = models.CharField(max_length=200)

    objects = SharedQuerySet["WordList"].as_manager()

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="word_list_once_per_owner"),
            models.CheckConstraint(
                condition=Q(lab__isnull=True) | Q(study__isnull=True), name="word_list_shared_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def newest(self) -> "WordListVersion":
        """The version in use."""
        prefetched: list[WordListVersion] = getattr(self, "newest_versions", [])
        return prefetched[0] if prefetched else self.versions.latest("number")


class WordListVersion(models.Model):
    """One saved version of a list's rows; immutable."""

    word_list = models.ForeignKey(WordList, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="CSV with the columns of the lexicon and of the forms.")
    sha256 = models.CharField(max_length=64)
    n_rows = models.PositiveIntegerField()
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["word_list", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["word_list", "number"], name="word_list_version_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="word_list_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.word_list} version {self.number}"


class OwnParadigm(Shared):
    """A paradigm of a researcher; its text is that of the newest version."""

    uid = models.CharField(max_length=80, help_text="Name as its file states it.")
    language = models.CharField(max_length=35, default="en")
    phenomenon = models.CharField(max_length=80, blank=True)

    objects = SharedQuerySet["OwnParadigm"].as_manager()

    class Meta:
        ordering = ["uid", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "uid"], name="own_paradigm_once_per_owner"),
            models.CheckConstraint(
                condition=Q(lab__isnull=True) | Q(study__isnull=True), name="own_paradigm_shared_once"
            ),
        ]

    def __str__(self) -> str:
        return self.uid

    @property
    def newest(self) -> "ParadigmVersion":
        """The version that is drawn from."""
        prefetched: list[ParadigmVersion] = getattr(self, "newest_versions", [])
        return prefetched[0] if prefetched else self.versions.latest("number")


class ParadigmVersion(models.Model):
    """One saved version of a paradigm's text; immutable."""

    paradigm = models.ForeignKey(OwnParadigm, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="TOML, as it was saved.")
    sha256 = models.CharField(max_length=64)
    n_errors = models.PositiveIntegerField(default=0, help_text="Errors that the linter found on saving.")
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["paradigm", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["paradigm", "number"], name="paradigm_version_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="paradigm_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.paradigm} version {self.number}"
