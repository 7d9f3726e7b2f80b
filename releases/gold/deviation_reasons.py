"""Reasons of deviations: versions that editors write, of which the newest counts."""

from collections.abc import Collection
from typing import Any

from django.db import transaction

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from releases.models import DeviationReason

LONGEST_REASON = 2000


def reasons_of(study: Experiment) -> dict[str, list[DeviationReason]]:
    """Every version of every reason by the key of its row, the newest first."""
    reasons: dict[str, list[DeviationReason]] = {}
    rows = DeviationReason.objects.filter(experiment=study).select_related("author").order_by("-pk")
    for row in rows:
        reasons.setdefault(row.key, []).append(row)
    return reasons


@transaction.atomic
def write_reason(
    study: Experiment, key: str, *, text: str, keys: Collection[str], user: Any = None
) -> DeviationReason | None:
    """Store a version of the reason of one of the list's rows, whose keys are given.

    An empty text withdraws the reason; the same text again changes nothing and returns None.
    """
    text = "\n".join(text.split("\r\n")).strip()
    if key not in keys:
        raise BadInput(f"the list of deviations has no row {key!r}.", column="key", remedy="Reload the list.")
    if len(text) > LONGEST_REASON:
        raise BadInput(
            f"the reason has {len(text):,} characters.",
            column="text",
            remedy=f"Write at most {LONGEST_REASON:,}.",
        )
    # Race: the lock on the study serializes two editors, so that a double click is one version.
    Experiment.objects.select_for_update().get(pk=study.pk)
    newest = DeviationReason.objects.filter(experiment=study, key=key).order_by("-pk").first()
    if (newest.text if newest else "") == text:
        return None
    details = {"row": key, "reason": text or "withdrawn"}
    AuditEntry.objects.create(experiment=study, user=user, action="reason of a deviation", details=details)
    return DeviationReason.objects.create(experiment=study, key=key, text=text, author=user)
