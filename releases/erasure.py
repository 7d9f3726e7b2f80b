"""Deletion of what results hold of a participant who is forgotten."""

from contextlib import suppress
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.dispatch import receiver

from judgments.models import Participant
from judgments.models.participant import participant_forgotten
from releases.models import Exclusion


def report_folder(study_id: int) -> str:
    """Folder of a study's computed reports in the default storage."""
    return f"reports/{study_id}"


@receiver(participant_forgotten, dispatch_uid="results_of_a_forgotten_participant")
def delete_results(participant: Participant, **_: Any) -> None:
    """Delete the reasons of exclusions, and the study's computed reports after the commit."""
    Exclusion.objects.filter(session__participant=participant).update(reason="")
    transaction.on_commit(lambda: _delete_reports(participant.experiment_id))


def _delete_reports(study_id: int) -> None:
    folder = report_folder(study_id)
    with suppress(FileNotFoundError):  # no report of the study was computed
        for name in default_storage.listdir(folder)[1]:
            default_storage.delete(f"{folder}/{name}")
