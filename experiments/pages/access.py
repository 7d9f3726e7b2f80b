"""Who may open a study's pages: strangers see nothing at all, viewers look, editors change."""

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from experiments.models import AuditEntry, Experiment, Membership


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
    """The study for an editor, locked until the transaction ends, so that one save follows the other.

    Raises
    ------
    ClosedStudy
        If the study was closed, for example by another editor since the form was opened.
    """
    study = get_study(user, slug, editing=True)
    locked = Experiment.objects.select_for_update().get(pk=study.pk)
    if locked.status == Experiment.Status.CLOSED:
        raise ClosedStudy("A closed study stays as it was.")
    return locked


def role_in(user: User | AnonymousUser, study: Experiment) -> str | None:
    """The user's role; staff count as owners."""
    if not user.is_authenticated:
        return None
    if user.is_staff:
        return Membership.Role.OWNER
    return Membership.objects.filter(experiment=study, user=user).values_list("role", flat=True).first()


def may_edit(user: User | AnonymousUser, study: Experiment) -> bool:
    """Whether the user may change the study."""
    return role_in(user, study) in Membership.Role.editing()


def may_see_ids(user: User | AnonymousUser, study: Experiment) -> bool:
    """Whether the user may see and find platform ids: editing members and superusers, not all staff."""
    if user.is_superuser:
        return True
    member = {"experiment": study, "user": user.pk, "role__in": Membership.Role.editing()}
    return Membership.objects.filter(**member).exists()


def audit(user: User | AnonymousUser | None, study: Experiment, action: str, **details: object) -> None:
    """Note who did what."""
    AuditEntry.objects.create(
        experiment=study,
        user=user if user and user.is_authenticated else None,
        action=action,
        details=details,
    )
