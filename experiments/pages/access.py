"""Access to a study's pages: strangers get 404, viewers read, editors change."""

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from experiments.models import AuditEntry, Experiment, Lab, Membership
from experiments.teams.roles import lab_role, manages, may_edit, may_see_ids, role_in

__all__ = [
    "AuthenticatedRequest",
    "ClosedStudy",
    "audit",
    "get_lab",
    "get_locked_study",
    "get_study",
    "may_edit",
    "may_see_ids",
    "role_in",
]


class AuthenticatedRequest(HttpRequest):
    """The request of a view behind ``login_required``; used in annotations only."""

    user: User


class ClosedStudy(PermissionDenied):
    """A change of a study that was closed."""


def get_study(user: User | AnonymousUser, slug: str, *, editing: bool = False) -> Experiment:
    """The study, if the user is a member: 404 for strangers, 403 for viewers who would edit."""
    study = Experiment.objects.filter(slug=slug).first()
    role = role_in(user, study) if study else None
    if study is None or role is None:
        raise Http404("no such study")
    if editing and role not in Membership.Role.editing():
        raise PermissionDenied("Viewers of a study cannot change it.")
    return study


def get_locked_study(user: User | AnonymousUser, slug: str) -> Experiment:
    """The study for an editor, locked until the transaction ends, so that one save follows the other."""
    study = get_study(user, slug, editing=True)
    locked = Experiment.objects.select_for_update().get(pk=study.pk)
    if locked.status == Experiment.Status.CLOSED:
        raise ClosedStudy("A closed study stays as it was.")
    return locked


def get_lab(user: User | AnonymousUser, slug: str, *, managing: bool = False) -> Lab:
    """The lab, if the user is a member: 404 for strangers, 403 for others who would change it."""
    lab = Lab.objects.filter(slug=slug).first()
    if lab is None or lab_role(user, lab) is None:
        raise Http404("no such lab")
    if managing and not manages(user, lab):
        raise PermissionDenied("Only a manager changes a lab.")
    return lab


def audit(user: User | AnonymousUser | None, study: Experiment, action: str, **details: object) -> None:
    """Note who did what."""
    AuditEntry.objects.create(
        experiment=study,
        user=user if user and user.is_authenticated else None,
        action=action,
        details=details,
    )
