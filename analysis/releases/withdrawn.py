"""What people took back: counted in every later release, and noted on those frozen before."""

from typing import Any

from django.db.models import Sum

from analysis.releases.models import Release
from experiments.models import Experiment
from judgments.models import Tombstone


def withdrawn_from(study: Experiment) -> dict[str, int]:
    """Sessions and judgments that were deleted at people's wish."""
    return _counts(Tombstone.objects.filter(experiment=study))


def withdrawn_since(release: Release) -> dict[str, int]:
    """The same, since a release was asked for: its files may still hold them."""
    return _counts(Tombstone.objects.filter(experiment=release.experiment_id, at__gt=release.created_at))


def _counts(stones: Any) -> dict[str, int]:
    found = stones.aggregate(sessions=Sum("n_sessions"), judgments=Sum("n_judgments"))
    return {name: count or 0 for name, count in found.items()}
