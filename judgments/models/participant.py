"""Participants under pseudonyms, with consent and flags; platform ids are stored apart.

Quality signals of sessions, as last computed; researchers decide what follows from them.
"""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.dispatch import Signal

from experiments.encryption import (
    VAULT_INDEX,
    Ciphertext,
    EncryptedJSONField,
    EncryptedTextField,
    keyed_digests,
)
from experiments.models import Experiment

#: Sent with ``participant`` in the transaction that deletes the data, so that other tables delete theirs.
participant_forgotten = Signal()


class Participant(models.Model):
    """One participant of one study, identified by a pseudonym only."""

    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, related_name="participants", db_index=False
    )
    pseudonym = models.CharField(max_length=100)
    background = models.JSONField(default=dict, blank=True, help_text="Answers to the questionnaire.")
    is_native = models.BooleanField(null=True, blank=True, help_text="Empty when not asked or not answered.")
    is_simulated = models.BooleanField(default=False)
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When the answers were deleted at the person's wish."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "pseudonym"], name="pseudonym_once_per_study")
        ]

    def __str__(self) -> str:
        return self.pseudonym


def identity_digests(experiment_id: int, external_id: str) -> list[str]:
    """Digests by which an id is looked up in the vault, one for each key; another study has others."""
    return keyed_digests(f"{experiment_id}:{external_id}", purpose=VAULT_INDEX) if external_id else [""]


class DigestField(models.CharField):  # type: ignore[type-arg]  # not subscriptable at run time
    """The digest of the row's id under the current key, computed whenever the row is stored."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        """Compute it from the row, unless a backup brought both."""
        row: Any = model_instance
        if isinstance(row.external_id, Ciphertext):
            return str(row.external_digest)
        row.external_digest = identity_digests(row.experiment_id, row.external_id)[0]
        return str(row.external_digest)


class VaultQuerySet(models.QuerySet["PlatformIdentity"]):
    """Rows of the vault."""

    def with_id(self, experiment: Experiment, external_id: str) -> "VaultQuerySet":
        """Rows of a study with this id."""
        digests = identity_digests(experiment.pk, external_id)
        return self.filter(experiment=experiment, external_digest__in=digests)


class PlatformIdentity(models.Model):
    """The vault: the only table with personal ids of participants; never exported.

    An id that only a link claims may occur with several participants, because anybody can write it there.
    """

    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="identity")
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="+")
    recruiter = models.CharField(max_length=40)
    external_id = EncryptedTextField(blank=True)
    external_digest = DigestField(max_length=43, blank=True, default="", editable=False)
    is_verified = models.BooleanField(
        default=False, help_text="From a signed link or the platform itself; else only claimed by a link."
    )
    parameters = EncryptedJSONField(
        default=dict, blank=True, help_text="Personal parameters of the link, as they came."
    )
    purge_at = models.DateField(
        null=True, blank=True, db_index=True, help_text="Set when the study closes; deleted on that day."
    )

    objects = VaultQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "platform identities"
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "recruiter", "external_digest"],
                condition=Q(is_verified=True),
                name="platform_id_once_per_study",
            )
        ]
        indexes = [models.Index(fields=["experiment", "external_digest"], name="identity_of_study")]

    def __str__(self) -> str:
        return f"identity of {self.participant_id}"


class Consent(models.Model):
    """A decision on consent, with the digest of the text shown."""

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="consents")
    session = models.ForeignKey(
        "judgments.Session", null=True, blank=True, on_delete=models.CASCADE, related_name="consents"
    )
    text_sha256 = models.CharField(max_length=64)
    given = models.BooleanField()
    statements = models.JSONField(
        default=list, blank=True, help_text='The statements of the page: [{"text", "required", "ticked"}].'
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.participant}: {'given' if self.given else 'refused'}"


class Flag(models.Model):
    """A researcher's flag, which an exclusion plan may use; lifted, never deleted."""

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="flags")
    session = models.ForeignKey(
        "judgments.Session", null=True, blank=True, on_delete=models.CASCADE, related_name="flags"
    )
    reason = models.CharField(max_length=300)
    raised_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    raised_at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-raised_at", "-id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="flag_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.participant}: {self.reason}"


class Tombstone(models.Model):
    """The counts that remain after a deletion of answers."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="tombstones")
    n_sessions = models.PositiveIntegerField()
    n_judgments = models.PositiveIntegerField()
    reason = models.CharField(max_length=200)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.n_judgments} judgments erased"
