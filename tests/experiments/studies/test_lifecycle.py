"""draft → pilot → open → paused → closed."""

import pytest
from django.core.exceptions import PermissionDenied

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, PresentationList
from experiments.studies.lifecycle import (
    NotReady,
    close,
    document_sha256,
    open_study,
    pause,
    problems,
    start_pilot,
)
from tests import cast

pytestmark = pytest.mark.django_db
Status = Experiment.Status


def test_a_study_goes_through_its_life():
    experiment = cast.draft()
    for step, status in (
        (start_pilot, Status.PILOT),
        (open_study, Status.OPEN),
        (pause, Status.PAUSED),
        (open_study, Status.OPEN),
        (close, Status.CLOSED),
    ):
        assert step(experiment, cast.ada()).status == status
    assert experiment.opened_at and experiment.closed_at
    assert AuditEntry.objects.filter(experiment=experiment, action="status").count() == 5


def test_opening_twice_has_one_effect():
    experiment = cast.draft()
    open_study(experiment, cast.ada())
    first = experiment.opened_at
    open_study(experiment, cast.ada())
    assert experiment.versions.count() == 1 and experiment.opened_at == first
    assert PresentationList.objects.count() == 4
    assert experiment.audit.count() == 1


def test_opening_freezes_a_version_with_its_checksum():
    experiment = open_study(cast.draft(), cast.ada())
    version = experiment.current_version()
    assert version.number == 1 and version.sha256 == document_sha256(version.snapshot)
    assert version.snapshot["consent"] == experiment.consent
    assert version.snapshot["materials"]["checksum"] == experiment.materials.checksum
    assert version.snapshot["design"]["n_lists"] == 4


def test_a_change_makes_the_next_version_and_keeps_the_old_lists():
    experiment = open_study(cast.draft(), cast.ada())
    pause(experiment, cast.ada())
    experiment.instructions = "Read slowly."
    experiment.save()
    open_study(experiment, cast.ada())
    assert [version.number for version in experiment.versions.all()] == [1, 2]
    assert experiment.current_version().lists.count() == 4 and experiment.lists.count() == 8


def test_reopening_without_change_keeps_the_version():
    experiment = open_study(cast.draft(), cast.ada())
    open_study(pause(experiment, cast.ada()), cast.ada())
    assert experiment.versions.count() == 1


@pytest.mark.parametrize("step", [pause, close])
def test_a_draft_cannot_be_paused_or_closed(step):
    with pytest.raises(BadInput, match="From here it can become pilot or open"):
        step(cast.draft(), cast.ada())


def test_a_closed_study_stays_closed():
    experiment = close(open_study(cast.draft(), cast.ada()), cast.ada())
    with pytest.raises(BadInput, match="stays closed"):
        open_study(experiment, cast.ada())


def test_all_missing_parts_are_reported_at_once():
    experiment = cast.draft(consent="", instructions=" ", catch_trials=[{"options": []}])
    with pytest.raises(NotReady) as caught:
        open_study(experiment, cast.ada())
    assert len(caught.value.problems) == 3 == len(problems(experiment))
    experiment.refresh_from_db()
    assert experiment.status == Status.DRAFT and not experiment.versions.exists()


def test_an_imported_study_takes_no_participants():
    assert "imported" in problems(cast.draft(origin=Experiment.Origin.IMPORTED))[0]


def test_unknown_task_parameter_keeps_a_study_closed():
    assert any(
        "no parameter 'pionts'" in problem
        for problem in problems(cast.draft(task="likert", parameters={"pionts": 7}))
    )


@pytest.mark.parametrize("stranger", [cast.ben, cast.cleo])
def test_only_owner_and_editors_may_open(stranger):
    with pytest.raises(PermissionDenied):
        open_study(cast.draft(), stranger())
