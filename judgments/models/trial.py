"""Trials: what the screen showed, word for word and in order."""

import base64
import hashlib
import secrets
from collections.abc import Iterator

from django.db import models
from django.db.models import Q

from experiments.models import Item, MinimalPair, Sentence, TrialKind
from judgments.models.session import Session


def new_public_id() -> str:
    """A random id, from which a browser learns nothing about the trial."""
    return secrets.token_urlsafe(9)


def new_public_ids(n: int) -> Iterator[str]:
    """``n`` random ids, drawn at once."""
    return _cut_ids(secrets.token_bytes(9 * n), n)


def derive_public_ids(token: str, n: int) -> Iterator[str]:
    """``n`` ids derived from a session's secret token, so that recreated trials have the same ids."""
    return _cut_ids(hashlib.shake_256(f"trials of {token}".encode()).digest(9 * n), n)


def _cut_ids(data: bytes, n: int) -> Iterator[str]:
    characters = base64.urlsafe_b64encode(data).decode()  # 9 bytes give 12 characters
    return (characters[start : start + 12] for start in range(0, 12 * n, 12))


class Trial(models.Model):
    """One sentence or pair at one position of a session."""

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="trials", db_index=False
    )  # the index of the unique constraints starts with it
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=TrialKind.choices, default=TrialKind.TARGET)
    block = models.PositiveIntegerField(default=1)
    public_id = models.CharField(max_length=24, default=new_public_id)
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="trials")
    sentence = models.ForeignKey(
        Sentence, null=True, blank=True, on_delete=models.PROTECT, related_name="trials"
    )
    pair = models.ForeignKey(
        MinimalPair, null=True, blank=True, on_delete=models.PROTECT, related_name="trials"
    )
    expected_first = models.BooleanField(
        null=True, blank=True, help_text="Forced choice: expected member on top."
    )
    shown = models.JSONField(
        default=dict,
        blank=True,
        help_text='What stood on the screen: {"options": [{"id", "sentence_id", "text"}], ...}, in order.',
    )
    correct = models.JSONField(
        default=dict,
        blank=True,
        help_text="Catch and practice: the intended answer; never sent to a browser.",
    )
    shown_at = models.DateTimeField(null=True, blank=True, help_text="Server clock at first showing.")
    attributes = models.JSONField(default=dict, blank=True, help_text="Further columns of an imported file.")

    class Meta:
        ordering = ["session", "position"]
        constraints = [
            models.UniqueConstraint(fields=["session", "position"], name="trial_position_once_per_session"),
            models.UniqueConstraint(fields=["session", "public_id"], name="trial_public_id_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="trial_position_from_one"),
            models.CheckConstraint(condition=Q(kind__in=TrialKind.values), name="trial_kind_known"),
        ]

    def __str__(self) -> str:
        return f"trial {self.position} of session {self.session_id}"
