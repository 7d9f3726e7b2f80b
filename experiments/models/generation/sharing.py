"""Rows of a researcher that a lab or the team of a study may share."""

from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment
from experiments.models.lab import Lab, LabMembership, in_team

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
        """Who sees the row beside its owner."""
        if self.lab is not None:
            return f"the lab {self.lab}"
        return f"the team of {self.study}" if self.study is not None else ""
