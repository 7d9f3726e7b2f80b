"""Labs: groups of researchers whose roles give rights over the lab's studies."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q


def in_team(user: Any, study: str = "", *, editing: bool = False) -> Q:
    """Return the condition that the user has a role in a study, its own or through its lab.

    ``study`` is the path from the rows to the study, empty where the rows are studies; the rows may repeat.
    """
    path = f"{study}__" if study else ""
    roles = {"owner", "editor"}  # Membership.Role.editing(), whose module imports this one
    own: dict[str, Any] = {f"{path}memberships__user": user}
    through_lab: dict[str, Any] = {f"{path}lab__memberships__user": user}
    if editing:
        own[f"{path}memberships__role__in"] = roles
        through_lab[f"{path}lab__memberships__role__in"] = LabMembership.Role.editing()
    return Q(**own) | Q(**through_lab)


class LabQuerySet(models.QuerySet["Lab"]):
    """Queries on labs."""

    def visible_to(self, user: Any) -> "LabQuerySet":
        """Return the labs of which the user is a member; staff see all."""
        return self if user.is_staff else self.filter(memberships__user=user).distinct()

    def open_to_studies_by(self, user: Any) -> "LabQuerySet":
        """Return the labs to which the user may add studies: as manager or editor, staff included."""
        return self.filter(
            memberships__user=user, memberships__role__in=LabMembership.Role.editing()
        ).distinct()


class Lab(models.Model):
    """A group of researchers; a study belongs to one lab or none."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=100, unique=True)
    upload_quota_bytes = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="Most bytes of unfinished uploads for its studies; empty = LAB_UPLOAD_QUOTA_BYTES.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class LabMembership(models.Model):
    """A user's role in a lab, and so in its studies."""

    class Role(models.TextChoices):
        """Role of a member of a lab."""

        MANAGER = "manager", "manager"
        EDITOR = "editor", "editor"
        VIEWER = "viewer", "viewer"

        @classmethod
        def editing(cls) -> set[str]:
            """Roles that may change the lab's studies."""
            return {cls.MANAGER, cls.EDITOR}

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="lab_memberships"
    )
    role = models.CharField(max_length=7, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["lab", "id"]
        constraints = [
            models.UniqueConstraint(fields=["lab", "user"], name="member_once_per_lab"),
            models.CheckConstraint(
                condition=Q(role__in=["manager", "editor", "viewer"]), name="lab_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.lab}"
