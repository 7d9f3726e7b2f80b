"""Previews are forgotten after a while; real data never are."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Design, ExperimentVersion, PlannedTrial
from experiments.studies.lifecycle import freeze_preview, open_study
from experiments.studies.rehearsals import rehearsals
from judgments.models import Judgment, Participant, Session
from judgments.periodic import prune_previews as scheduled
from judgments.sessions.enrollment import begin_preview
from judgments.sessions.removal import prune_previews
from tests import cast

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=40)


def draft():
    experiment = cast.draft("agreement")
    Design.objects.create(experiment=experiment, n_lists=2)
    return experiment


def tried(study, key, *, instructions="Read."):
    """A preview of the study with these instructions, taken to the end."""
    study.instructions = instructions
    study.save()
    version = freeze_preview(study)
    session = begin_preview(study, version, key=key, consent_text="")
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    return cast.finish(session)


def age():
    ExperimentVersion.objects.update(created_at=LONG_AGO)
    Session.objects.update(started_at=LONG_AGO, last_seen_at=LONG_AGO)


def test_old_previews_go_with_their_lists_sessions_and_people():
    study = draft()
    tried(study, "a")
    newest = tried(study, "b", instructions="Read again.")
    age()
    scheduled()
    assert list(Session.objects.all()) == [newest] and Participant.objects.count() == 1
    assert ExperimentVersion.objects.count() == 1 and study.lists.count() == 2
    assert Judgment.objects.count() == newest.trials.count()
    assert rehearsals(study).by_people_now == 1  # the checklist of a draft keeps its proof


def test_real_and_pilot_sessions_stay_whatever_their_age():
    study = draft()
    tried(study, "a")
    open_study(study, cast.ada())
    real = cast.sit(study, "pia")
    age()
    assert prune_previews() == 1 and prune_previews() == 0
    assert list(Session.objects.all()) == [real] and list(Participant.objects.all()) == [real.participant]
    assert list(study.versions.values_list("is_preview", flat=True)) == [False]
    assert PlannedTrial.objects.filter(list__version=real.version).exists()


def test_a_preview_that_was_used_lately_stays():
    study = draft()
    tried(study, "a")
    tried(study, "b", instructions="Read again.")
    ExperimentVersion.objects.update(created_at=LONG_AGO)
    assert prune_previews() == 0 and Session.objects.count() == 2


def test_a_participant_of_the_study_keeps_the_pseudonym():
    study = draft()
    session = tried(study, "a")
    open_study(study, cast.ada())
    real = cast.sit(study, "pia")
    Session.objects.filter(pk=session.pk).update(participant=real.participant)
    age()
    prune_previews()
    assert list(Session.objects.all()) == [real] and real.participant in Participant.objects.all()
