"""Who may open a study's pages: strangers see nothing at all, viewers look, editors change."""

from django.core.exceptions import PermissionDenied
from django.http import Http404

from experiments.models import AuditEntry, Experiment, Membership


def get_study(user, slug: str, *, editing: bool = False) -> Experiment:
    """The study, if the user is a member: 404 for strangers, 403 for viewers who would edit."""
    study = Experiment.objects.filter(slug=slug).first()
    role = role_in(user, study) if study else None
    if study is None or role is None:
        raise Http404("no such study")
    if editing and role not in Membership.Role.editing():
        raise PermissionDenied("Viewers of a study cannot change it.")
    return study


def role_in(user, study: Experiment) -> str | None:
    """The user's role; staff count as owners."""
    if not user.is_authenticated:
        return None
    if user.is_staff:
        return Membership.Role.OWNER
    return Membership.objects.filter(experiment=study, user=user).values_list("role", flat=True).first()


def may_edit(user, study: Experiment) -> bool:
    """Whether the user may change the study."""
    return role_in(user, study) in Membership.Role.editing()


def audit(user, study: Experiment, action: str, **details: object) -> None:
    """Note who did what."""
    AuditEntry.objects.create(
        experiment=study,
        user=user if user and user.is_authenticated else None,
        action=action,
        details=details,
    )
