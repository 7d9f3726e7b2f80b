"""Long work is killed at every commit and request, and started again: one effect, nothing half-done."""

import itertools
from contextlib import ExitStack

import httpx
import pytest
from django.contrib.auth.models import User

from experiments.models import Experiment, ExperimentVersion, Job, PresentationList
from experiments.operation import job_runner
from experiments.studies import lifecycle
from judgments.deletion import erase_all_later
from judgments.models import Consent, Judgment, Participant, PlatformIdentity, Session, Tombstone
from judgments.recruitment.credentials import add_account
from releases import jobs  # noqa: F401  (registers the kinds of jobs)
from releases.models import Publication, ScoringRun, SentenceScore
from releases.publishing.publish import request_publication
from tests import cast
from tests.kills import killed_at
from tests.releases.models_dir import write_bigram
from tests.releases.scoring_runs import a_run, expected, stored
from tests.releases.study import judged_study, ready_release
from tools.doubles import repositories

pytestmark = pytest.mark.django_db(transaction=True)


def restart(job_id):
    """Run a job that its worker left, as the scheduler would give it to another one."""
    job = Job.objects.get(pk=job_id)
    if not job.is_final:
        Job.objects.filter(pk=job_id).update(state=Job.State.QUEUED, heartbeat_at=None, retry_at=None)
        job_runner.run(job_id)
    assert Job.objects.get(pk=job_id).state == Job.State.DONE


def kill_everywhere(begin, work, *requests, least, step=1):
    """Kill ``work`` at its first place, then ``step`` places later …; ``begin`` prepares each turn.

    ``work`` gets what ``begin`` returned. Yields it after each kill, for the caller to start again and check.
    """
    for number in itertools.count(1, step):
        prepared = begin(number)
        with killed_at(number, *requests) as kills:
            work(prepared)
        yield prepared
        if not kills.happened:
            break
    assert number > least, "there were fewer places than expected"


def test_opening_a_study_makes_all_lists_or_none():
    def begin(number):
        return cast.draft(f"study-{number}", materials=cast.material_set(f"set-{number}", n_items=3))

    for study in kill_everywhere(begin, lambda study: lifecycle.open_study(study, cast.ada()), least=1):
        versions, lists = ExperimentVersion.objects.filter(experiment=study), study.lists.count()
        is_open = Experiment.objects.get(pk=study.pk).status == "open"
        assert (lists > 0) == versions.exists() == is_open
        lifecycle.open_study(Experiment.objects.get(pk=study.pk), cast.ada())
        assert versions.count() == 1
        rows = PresentationList.objects.filter(experiment=study)
        assert rows.count() == len({*rows.values_list("label", flat=True)}) > 0
        assert all(row.planned_trials.count() == row.n_trials > 0 for row in rows)


def test_scoring_stores_every_score_once(settings, tmp_path, monkeypatch):
    settings.MODELS_DIR = tmp_path / "models"
    write_bigram(settings.MODELS_DIR)
    monkeypatch.setattr("releases.scoring.execution.request_helpers", lambda run, n: None)

    def begin(number):
        materials = cast.material_set(f"set-{number}", n_items=2)
        return a_run(cast.study(f"study-{number}", materials=materials))

    for run in kill_everywhere(begin, lambda run: job_runner.run(run.job_id), least=4):
        restart(run.job_id)
        assert ScoringRun.objects.get(pk=run.pk).state == "done"
        assert stored(run) == expected(run, settings.MODELS_DIR)
        assert SentenceScore.objects.filter(run=run).count() == 4


def test_deleting_all_answers_counts_each_once():
    def begin(number):
        study = judged_study(f"study-{number}", people=3)
        for person in study.participants.all():
            PlatformIdentity.objects.create(
                participant=person, experiment=study, recruiter="x", external_id="x"
            )
        Experiment.objects.filter(pk=study.pk).update(status="closed")
        study.refresh_from_db()
        study.n_before = Judgment.objects.filter(trial__session__experiment=study).count()
        study.job = erase_all_later(study, user=cast.ada())
        return study

    for study in kill_everywhere(begin, lambda study: job_runner.run(study.job.pk), least=4):
        answers = Judgment.objects.filter(trial__session__experiment=study)
        for person in study.participants.all():
            n_left = answers.filter(trial__session__participant=person).count()
            assert (n_left == 0) == (person.erased_at is not None)
        restart(study.job.pk)
        assert not answers.exists() and not PlatformIdentity.objects.filter(experiment=study).exists()
        counts = Tombstone.objects.filter(experiment=study).values_list("n_judgments", flat=True)
        assert sum(counts) == study.n_before > 0


def test_members_of_a_class_list_who_arrive_again_have_one_session():
    study = cast.study("agreement")

    def begin(number):
        return f"student-{number}"

    def work(name):
        cast.begin(study, name, recruiter="direct", external_id=name, is_verified=True)

    for name in kill_everywhere(begin, work, least=1):
        session = work(name) or Session.objects.latest("pk")
        assert PlatformIdentity.objects.with_id(study, name).get().participant == session.participant
        assert session.participant.sessions.count() == session.participant.consents.count() == 1
    n = Participant.objects.count()
    assert Session.objects.count() == Consent.objects.count() == PlatformIdentity.objects.count() == n


def test_publishing_makes_one_deposit_with_all_files(settings):
    User.objects.filter(pk=cast.ada().pk).update(first_name="Ada", last_name="Lovelace")
    study = judged_study(people=3)
    study.materials.licence = "CC-BY-4.0"
    study.materials.save(update_fields=["licence"])
    release = ready_release(study)
    servers = ExitStack()

    def begin(number):
        double = servers.enter_context(repositories.running())
        settings.ZENODO_URL = settings.ZENODO_SANDBOX_URL = double.url
        secrets = {"token": repositories.TOKEN}
        account = add_account(study, platform="zenodo", label=f"z-{number}", secrets=secrets, by=cast.ada())
        Publication.objects.all().delete()
        return double, request_publication(release, account, by=cast.ada())

    def work(prepared):
        job_runner.run(prepared[1].job_id)

    for double, publication in kill_everywhere(begin, work, (httpx.Client, "send"), least=10, step=7):
        with servers:
            restart(publication.job_id)
            assert Publication.objects.get(pk=publication.pk).state == "done"
            assert len(double.depositions) == 1
            (sent,) = double.buckets.values()
            names = {file["path"] for file in release.manifest["files"] if "/" not in file["path"]}
            assert names | {"manifest.json", "lm_eval.zip"} == set(sent)
