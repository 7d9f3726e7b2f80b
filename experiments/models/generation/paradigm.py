"""Paradigms that researchers write, with all their versions."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.generation.sharing import Shared, SharedQuerySet


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
        return self.versions.latest("number")


class ParadigmVersion(models.Model):
    """The text of a paradigm as somebody saved it; never changed."""

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
