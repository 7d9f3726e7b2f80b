"""Labs: groups of researchers whose roles give rights over the lab's studies."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from analysis.errors import BadInput
from analysis.power.money import LARGEST, check_money


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
    payment_limits = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Most for one payment in minor units, by currency; others are not paid. Empty = no limit.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


def check_pay(
    lab: Lab | None, amount_minor: int, currency: str, *, campaign_limit_minor: int | None = None
) -> None:
    """Refuse an amount or a currency that a study's lab or its campaign does not pay.

    Every reward, bonus and approval is checked here before it is stored.
    """
    check_money(amount_minor, currency, whose="the platform")
    limits: dict[str, int] = lab.payment_limits if lab else {}
    if limits and currency not in limits:
        raise BadInput(
            f"the lab {lab} does not pay in {currency}.",
            column="currency",
            remedy=f"It pays in {', '.join(sorted(limits))}; a manager can add a limit in {currency}.",
        )
    check_money(amount_minor, currency, largest=limits.get(currency, LARGEST), whose=f"the lab {lab}")
    if campaign_limit_minor is not None:
        check_money(amount_minor, currency, largest=campaign_limit_minor, whose="the campaign")


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
