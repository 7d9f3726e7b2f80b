"""Links with which reviewers read a study; only hashes of their tokens are stored."""

from django.conf import settings
from django.db import models

from experiments.models.experiment import Experiment


class ReviewLink(models.Model):
    """One link: what it shows, until when, and how often it was opened."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="review_links")
    label = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the token.")
    with_materials = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    n_uses = models.PositiveIntegerField(default=0, help_text="How often its first page was opened.")
    last_used_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.label} (link for reviewers of {self.experiment})"
