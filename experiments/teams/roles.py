"""Decides every permission on a study or lab: the role of a user, and what it allows."""

from django.contrib.auth.models import AnonymousUser, User

from experiments.models import Experiment, Lab, LabMembership, Membership

#: The role in the studies of a lab that a role in the lab gives.
OF_LAB = {
    LabMembership.Role.MANAGER: Membership.Role.OWNER,
    LabMembership.Role.EDITOR: Membership.Role.EDITOR,
    LabMembership.Role.VIEWER: Membership.Role.VIEWER,
}
RANK = {Membership.Role.VIEWER: 1, Membership.Role.EDITOR: 2, Membership.Role.OWNER: 3}


def role_in(user: User | AnonymousUser, study: Experiment) -> Membership.Role | None:
    """The user's role in a study, staff as owners; the higher one of the study's and its lab's."""
    return Membership.Role.OWNER if user.is_authenticated and user.is_staff else member_role(user, study)


def member_role(user: User | AnonymousUser, study: Experiment) -> Membership.Role | None:
    """The role as a member of the study or its lab, so that staff without one have none."""
    if not user.is_authenticated:
        return None
    own = Membership.objects.filter(experiment=study, user=user).values_list("role", flat=True)
    roles = [Membership.Role(role) for role in own]
    if study.lab_id:
        of_lab = LabMembership.objects.filter(lab=study.lab_id, user=user).values_list("role", flat=True)
        roles += [OF_LAB[LabMembership.Role(role)] for role in of_lab]
    return max(roles, key=RANK.__getitem__, default=None)


def may_edit(user: User | AnonymousUser, study: Experiment) -> bool:
    """Whether the user may change the study."""
    return role_in(user, study) in Membership.Role.editing()


def owns(user: User | AnonymousUser, study: Experiment) -> bool:
    """Whether the user may change the team of the study, or delete it."""
    return role_in(user, study) == Membership.Role.OWNER


def may_see_ids(user: User | AnonymousUser, study: Experiment) -> bool:
    """Whether the user may see and find platform ids: editing members and superusers, not all staff."""
    return user.is_superuser or member_role(user, study) in Membership.Role.editing()


def lab_role(user: User | AnonymousUser, lab: Lab) -> LabMembership.Role | None:
    """The user's role in a lab; staff count as managers."""
    if not user.is_authenticated:
        return None
    if user.is_staff:
        return LabMembership.Role.MANAGER
    role = LabMembership.objects.filter(lab=lab, user=user).values_list("role", flat=True).first()
    return LabMembership.Role(role) if role else None


def manages(user: User | AnonymousUser, lab: Lab) -> bool:
    """Whether the user may change the members and the name of a lab."""
    return lab_role(user, lab) == LabMembership.Role.MANAGER
