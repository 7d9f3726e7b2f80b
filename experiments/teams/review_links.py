"""Links for reviewers: made, revoked, found by their token, counted."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, ReviewLink
from experiments.teams.members import only_owners

MOST_LINKS = 20  # of one study that are valid


def valid_links(study: Experiment) -> QuerySet[ReviewLink]:
    """Return the links of a study that open something."""
    return study.review_links.filter(revoked_at__isnull=True, expires_at__gt=timezone.now())


@transaction.atomic
def make_link(study: Experiment, label: str, *, days: int, with_materials: bool, by: User) -> str:
    """Store a link; return its token, which is not stored."""
    only_owners(study, by)
    Experiment.objects.select_for_update().get(pk=study.pk)  # Race: two at once would exceed the limit.
    if valid_links(study).count() >= MOST_LINKS:
        raise BadInput(f"the study has {MOST_LINKS} links.", remedy="Revoke one that is not used any more.")
    token = secrets.token_urlsafe(20)
    link = ReviewLink.objects.create(
        experiment=study,
        label=label,
        digest=_digest(token),
        with_materials=with_materials,
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    details = {"label": label, "with_materials": with_materials, "until": f"{link.expires_at:%Y-%m-%d}"}
    AuditEntry.objects.create(experiment=study, user=by, action="link for reviewers made", details=details)
    return token


@transaction.atomic
def revoke_link(link: ReviewLink, *, by: User) -> bool:
    """End a link; False where it was revoked before."""
    only_owners(link.experiment, by)
    rows = ReviewLink.objects.filter(pk=link.pk, revoked_at__isnull=True)
    if not rows.update(revoked_at=timezone.now()):
        return False
    AuditEntry.objects.create(
        experiment=link.experiment,
        user=by,
        action="link for reviewers revoked",
        details={"label": link.label},
    )
    return True


def find_link(token: str) -> ReviewLink | None:
    """Return the valid link of a token."""
    rows = ReviewLink.objects.filter(
        digest=_digest(token), revoked_at__isnull=True, expires_at__gt=timezone.now()
    )
    return rows.select_related("experiment__materials").first()


def count_use(link: ReviewLink) -> None:
    """Count an opening of the link."""
    ReviewLink.objects.filter(pk=link.pk).update(n_uses=F("n_uses") + 1, last_used_on=timezone.now().date())


def _digest(token: str) -> str:
    # 160 random bits, so that no salt is needed
    return hashlib.sha256(token.encode()).hexdigest()
