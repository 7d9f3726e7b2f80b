"""Words that researchers add to the lexicon, for their own paradigms."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.generation.sharing import Shared, SharedQuerySet


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
        return self.versions.latest("number")


class WordListVersion(models.Model):
    """The rows of a list as somebody saved them; never changed."""

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
