"""Uploaded files, stored between preview and import."""

from django.conf import settings
from django.db import models

from experiments.models.lab import Lab

UPLOADS = "uploads"  # folder of the storage


def upload_path(upload: "Upload", filename: str) -> str:
    """Return a path per user; the name of the file is never part of it."""
    return f"{UPLOADS}/{upload.owner_id}/{upload.batch}/{upload.number}"


class Upload(models.Model):
    """One file of an upload; files of one upload share a batch."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    lab = models.ForeignKey(
        Lab,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="uploads",
        help_text="Whose quota it counts towards; empty = its owner's.",
    )
    batch = models.UUIDField(db_index=True)
    number = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=255, help_text="Original file name.")
    file = models.FileField(upload_to=upload_path, max_length=300)
    size = models.PositiveBigIntegerField(
        null=True, help_text="Bytes of the file; empty = it was uploaded before they were stored here."
    )
    sha256 = models.CharField(max_length=64)
    purpose = models.CharField(max_length=20, help_text="materials, judgments or scores.")
    options = models.JSONField(default=dict, blank=True, help_text="Format, mapping and names chosen so far.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["batch", "number"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "number"], name="upload_number_once_per_batch")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def n_bytes(self) -> int:
        """Size of the file, for which the storage need not respond."""
        return int(self.file.size if self.size is None else self.size)
