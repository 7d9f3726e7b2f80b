"""Materials: phenomenon ⊃ paradigm ⊃ minimal pair; item × condition = sentence."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from experiments.materials.markup import is_marked
from experiments.materials.schema import CONTEXT
from experiments.models.lab import in_team
from experiments.stimuli.composition import Stimulus, compose


class MaterialSetQuerySet(models.QuerySet["MaterialSet"]):
    """Queries on material sets."""

    def visible_to(self, user: Any) -> "MaterialSetQuerySet":
        """Return the sets that the user owns or that the user's studies use; staff see all."""
        if user.is_staff:
            return self
        in_study_of_user = in_team(user, "experiments") | in_team(user, "filler_designs__experiment")
        return self.filter(Q(owner=user) | in_study_of_user).distinct()


class MaterialSet(models.Model):
    """One uploaded or generated collection of sentences and pairs."""

    name = models.CharField(max_length=200, unique=True)
    slug = models.SlugField(max_length=200, unique=True)
    language = models.CharField(
        max_length=35, default="en", help_text="BCP 47 tag, for example en or zh-Hans."
    )
    source = models.CharField(max_length=500, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    file_format = models.CharField(max_length=20, blank=True)
    checksum = models.CharField(max_length=64, help_text="SHA-256 of what was imported.")
    report = models.JSONField(default=dict, blank=True, help_text="Findings of the import checks.")
    factors = models.JSONField(
        default=list,
        blank=True,
        help_text='Factors of the design in order: [{"name": "distance", "levels": ["short", "long"]}].',
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="material_sets",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MaterialSetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def levels(self) -> dict[str, list[str]]:
        """Levels of each factor, both in the researcher's order; empty without a factorial design."""
        return {str(factor["name"]): list(factor["levels"]) for factor in self.factors}


class Phenomenon(models.Model):
    """A group of paradigms (BLiMP's linguistics_term)."""

    material_set = models.ForeignKey(MaterialSet, on_delete=models.CASCADE, related_name="phenomena")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "phenomena"
        constraints = [
            models.UniqueConstraint(fields=["material_set", "name"], name="phenomenon_once_per_set")
        ]

    def __str__(self) -> str:
        return self.name


class Paradigm(models.Model):
    """A group of minimal pairs of one contrast (BLiMP's UID)."""

    material_set = models.ForeignKey(MaterialSet, on_delete=models.CASCADE, related_name="paradigms")
    phenomenon = models.ForeignKey(
        Phenomenon, null=True, blank=True, on_delete=models.CASCADE, related_name="paradigms"
    )
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["material_set", "name"], name="paradigm_once_per_set")]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """One lexicalization, in one or more conditions."""

    material_set = models.ForeignKey(MaterialSet, on_delete=models.CASCADE, related_name="items")
    paradigm = models.ForeignKey(
        Paradigm, null=True, blank=True, on_delete=models.CASCADE, related_name="items"
    )
    key = models.CharField(max_length=250, help_text="Id of the item in its file; unique in the set.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["material_set", "key"], name="item_once_per_set")]

    def __str__(self) -> str:
        return self.key


class Sentence(models.Model):
    """An item in a condition, its text exactly as given."""

    class Expected(models.TextChoices):
        """The author's intended status."""

        ACCEPTABLE = "acceptable", "acceptable"
        UNACCEPTABLE = "unacceptable", "unacceptable"
        UNKNOWN = "", "not stated"

    material_set = models.ForeignKey(MaterialSet, on_delete=models.CASCADE, related_name="sentences")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="sentences")
    key = models.CharField(max_length=250, help_text="sentence_id of its file; unique in the set.")
    condition = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    language = models.CharField(max_length=35, blank=True, help_text="Only where it differs from the set's.")
    expected = models.CharField(max_length=12, choices=Expected.choices, default=Expected.UNKNOWN, blank=True)
    mark = models.CharField(max_length=12, blank=True, help_text="Mark of the source, such as * or ??.")
    critical_region = models.CharField(max_length=200, blank=True)
    factors = models.JSONField(
        default=dict, blank=True, help_text='Level of each factor of the set: {"structure": "island"}.'
    )
    is_filler = models.BooleanField(
        default=False, help_text="Shown between the targets, never analysed as one."
    )
    attributes = models.JSONField(default=dict, blank=True, help_text="Further columns of its file.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["material_set", "key"], name="sentence_once_per_set"),
            models.CheckConstraint(
                condition=Q(expected__in=["", "acceptable", "unacceptable"]), name="sentence_expected_known"
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def stimulus(self) -> Stimulus:
        """The text and its context, as participants see and language models read them."""
        context = str(self.attributes.get(CONTEXT) or "")
        return compose(self.text, context=context, is_marked=is_marked(self.attributes))

    @property
    def words(self) -> str:
        """The text without markup, as language models score it."""
        return self.stimulus.target.words

    @property
    def context(self) -> str:
        """The words before the text that language models read and do not score."""
        frame = self.stimulus.context
        return frame.words if frame else ""


class MinimalPair(models.Model):
    """Two sentences, the first intended as the acceptable one."""

    material_set = models.ForeignKey(MaterialSet, on_delete=models.CASCADE, related_name="pairs")
    paradigm = models.ForeignKey(
        Paradigm, null=True, blank=True, on_delete=models.CASCADE, related_name="pairs"
    )
    key = models.CharField(max_length=250, help_text="pair_id of its file; unique in the set.")
    good = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="pairs_as_good")
    bad = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="pairs_as_bad")
    fields = models.JSONField(default=dict, blank=True, help_text="All fields of its source line, as given.")
    discard = models.BooleanField(default=False, help_text="Marked in the source as not to be used.")
    discard_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["material_set", "key"], name="pair_once_per_set"),
            models.CheckConstraint(condition=~Q(good=F("bad")), name="pair_has_two_sentences"),
        ]

    def __str__(self) -> str:
        return self.key
