"""Invitations by mail: made, sent again, revoked and accepted, each once."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Invitation, Lab, LabMembership, Membership
from experiments.models.access import PENDING
from experiments.teams.members import only_owners, set_role, team_field
from experiments.teams.roles import RANK

DAYS = 14
MOST_PENDING = 50  # of one study or lab
MOST_A_DAY = 50  # invitations of one researcher
MOST_LINKS = 5  # of one invitation
LAB_RANK = {LabMembership.Role.VIEWER: 1, LabMembership.Role.EDITOR: 2, LabMembership.Role.MANAGER: 3}


def _signer() -> Signer:
    """Made when needed, as it reads SECRET_KEY; "." because mail programs end links at other separators."""
    return Signer(salt="experiments.invitation", sep=".")


def pending(team: Experiment | Lab) -> QuerySet[Invitation]:
    """Return the invitations to a team that were neither accepted nor revoked, expired ones among them."""
    return Invitation.objects.filter(PENDING, **team_field(team)).select_related("created_by")


@transaction.atomic
def invite(team: Experiment | Lab, email: str, *, role: str, by: User) -> tuple[Invitation, str]:
    """Store an invitation; return it with the token of its link, which is not stored."""
    only_owners(team, by)
    email = email.strip().lower()
    type(team).objects.select_for_update().get(pk=team.pk)  # Race: two at once would exceed the limits.
    now = timezone.now()
    waiting = pending(team)
    if waiting.filter(email=email).exists():
        raise BadInput("this address is invited already.", remedy="Send that invitation again, or revoke it.")
    if waiting.count() >= MOST_PENDING:
        raise BadInput(f"{MOST_PENDING} invitations are pending.", remedy="Revoke some of them first.")
    if Invitation.objects.filter(created_by=by, created_at__gt=now - timedelta(days=1)).count() >= MOST_A_DAY:
        raise BadInput(f"you invited {MOST_A_DAY} users within a day.", remedy="Go on tomorrow.")
    secret = secrets.token_urlsafe(20)
    invitation = Invitation.objects.create(
        **team_field(team),
        email=email,
        role=role,
        digest=_digest(secret),
        created_by=by,
        expires_at=now + timedelta(days=DAYS),
        sent_at=now,
    )
    _note(invitation, by, "invitation made")
    return invitation, _signer().sign(secret)


@transaction.atomic
def renew(invitation: Invitation, *, by: User) -> str:
    """Make a new link, which ends the former one; return its token."""
    only_owners(invitation.team, by)
    locked = (
        Invitation.objects.select_for_update(of=("self",)).filter(PENDING).filter(pk=invitation.pk).first()
    )
    if locked is None:
        raise BadInput("the invitation was accepted or revoked.")
    if locked.n_sent >= MOST_LINKS:
        raise BadInput(
            f"it was sent {MOST_LINKS} times.", remedy="Revoke it, and ask them about the address."
        )
    secret, now = secrets.token_urlsafe(20), timezone.now()
    locked.digest, locked.sent_at, locked.n_sent = _digest(secret), now, locked.n_sent + 1
    locked.expires_at, locked.created_by = now + timedelta(days=DAYS), by
    locked.save(update_fields=["digest", "sent_at", "n_sent", "expires_at", "created_by"])
    _note(locked, by, "invitation sent again")
    return _signer().sign(secret)


@transaction.atomic
def revoke(invitation: Invitation, *, by: User) -> bool:
    """End an invitation; False where it was accepted or revoked before."""
    only_owners(invitation.team, by)
    rows = Invitation.objects.filter(PENDING).filter(pk=invitation.pk)
    if not rows.update(revoked_at=timezone.now()):
        return False
    _note(invitation, by, "invitation revoked")
    return True


def find_invitation(token: str) -> Invitation | None:
    """Return the invitation of a link while it can be accepted."""
    try:
        secret = _signer().unsign(token)
    except BadSignature:
        return None
    rows = Invitation.objects.filter(PENDING, digest=_digest(secret), expires_at__gt=timezone.now())
    invitation = rows.select_related("experiment__lab", "lab", "created_by").first()
    return invitation if invitation and _still_offered(invitation) else None


def is_for(invitation: Invitation, user: User) -> bool:
    """Whether the invited address is a confirmed one of the user."""
    addresses = EmailAddress.objects.filter(user=user, email__iexact=invitation.email, verified=True)
    return bool(addresses.exists())


@transaction.atomic
def accept(invitation: Invitation, user: User) -> bool:
    """Give the user the role, unless they have a higher one; False where another request was first."""
    rows = Invitation.objects.filter(PENDING, pk=invitation.pk, expires_at__gt=timezone.now())
    # Race: of two users of the same link one changes the row.
    if not _still_offered(invitation) or not rows.update(accepted_at=timezone.now(), accepted_by=user):
        return False
    _note(invitation, user, "invitation accepted", confirmed_address=is_for(invitation, user))
    by = invitation.created_by or user
    if invitation.experiment is not None:
        study_roles = Membership.objects.filter(experiment=invitation.experiment, user=user)
        present: Sequence[str] = list(study_roles.values_list("role", flat=True))
        if all(RANK[Membership.Role(role)] < RANK[Membership.Role(invitation.role)] for role in present):
            set_role(invitation.experiment, user, role=invitation.role, by=by)
    elif invitation.lab is not None:
        lab_roles = LabMembership.objects.filter(lab=invitation.lab, user=user)
        present = list(lab_roles.values_list("role", flat=True))
        offered = LAB_RANK[LabMembership.Role(invitation.role)]
        if all(LAB_RANK[LabMembership.Role(role)] < offered for role in present):
            set_role(invitation.lab, user, role=invitation.role, by=by)
    return True


def _still_offered(invitation: Invitation) -> bool:
    """Whether who sent the invitation may still change the team."""
    by = invitation.created_by
    if by is None or not by.is_active:
        return False
    try:
        only_owners(invitation.team, by)
    except PermissionDenied:
        return False
    return True


def mask_email(email: str) -> str:
    """Return an address as histories show it, which all members read.

    >>> mask_email("cleo@example.org")
    'c…@example.org'
    """
    name, _, host = email.rpartition("@")
    return f"{name[:1]}…@{host}"


def _digest(secret: str) -> str:
    # 160 random bits, so that no salt is needed
    return hashlib.sha256(secret.encode()).hexdigest()


def _note(invitation: Invitation, by: User, action: str, **details: Any) -> None:
    AuditEntry.objects.create(
        experiment=invitation.experiment,
        lab=invitation.lab,
        user=by,
        action=action,
        details={"address": mask_email(invitation.email), "role": invitation.role, **details},
    )
