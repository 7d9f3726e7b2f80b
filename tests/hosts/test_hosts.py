"""Web and workers on several hosts: uploads, releases, backups, killed hosts, a storage that one lacks."""

import io
import json
import random
import re
import threading
import time
import zipfile
from contextlib import suppress

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection, transaction
from django.test import Client

from experiments.models import Job, MaterialSet, MinimalPair, Phenomenon, Sentence
from judgments.models import Judgment, Session
from releases.gold import storage
from releases.models import Release
from tests import cast
from tests.releases.study import judged_study
from tools.cluster import Host, until

N_PAIRS = 2_600  # more sentences than a request imports
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def logged_in(host: Host, account) -> httpx.Client:
    """A browser of somebody who logged in on another host."""
    client = Client()
    client.force_login(account)
    return host.browser(cookies={"sessionid": client.cookies["sessionid"].value})


def post(browser: httpx.Client, address: str, data: dict[str, str], **files) -> httpx.Response:
    """Send the form of a page."""
    token = CSRF.search(browser.get(address).text)[1]
    return browser.post(address, data={"csrfmiddlewaretoken": token, **data}, **files)


def upload(browser: httpx.Client, name: str) -> int:
    """Upload a set that a worker has to import; returns the key of its job."""
    rows = "".join(
        f"{n},{condition},Sentence {n} of {name} is {condition}.,{expected}\n"
        for n in range(N_PAIRS)
        for condition, expected in (("good", "acceptable"), ("bad", "unacceptable"))
    )
    file = ("corpus.csv", f"item,condition,sentence,expected\n{rows}".encode(), "text/csv")
    about = {"name": name, "language": "en", "source": "", "licence": ""}
    preview = post(browser, "/materials/upload/", about, files={"files": file}).headers["location"]
    page = browser.get(preview).text
    columns = dict(re.findall(r'name="(column-\d+)".*?<option value="(\w+)" selected', page, re.DOTALL))
    stored = post(browser, preview, {**about, "format": "table", **columns, "action": "import"})
    return int(re.search(r"/jobs/(\d+)/", stored.headers["location"])[1])


def finished(key: int) -> Job:
    """The job, once it has ended."""
    return until(lambda: Job.objects.filter(pk=key, state__in=Job.State.final()).first())


def test_a_worker_of_another_host_imports_an_upload(cluster):
    web, worker = cluster.host("web").start_web(), cluster.host("worker").start_worker()
    key = upload(logged_in(web, cast.ada()), "Corpus")
    job = finished(key)
    assert (job.state, job.attempt, job.error) == ("done", 1, "")
    assert Sentence.objects.filter(material_set__name="Corpus").count() == 2 * N_PAIRS
    assert not [path for path in cluster.storage.rglob("*") if path.is_file()]  # the upload is deleted
    assert not (web.var / "media").exists() and not (worker.var / "media").exists()


def test_a_worker_without_the_storage_tries_again_and_another_host_finishes(cluster):
    web = cluster.host("web").start_web()
    elsewhere = cluster.host("elsewhere")
    elsewhere.start_worker(UPLOAD_STORAGE=str(elsewhere.folder / "uploads"))
    key = upload(logged_in(web, cast.ada()), "Corpus")
    waiting = until(lambda: Job.objects.filter(pk=key, retry_at__isnull=False).first())
    assert waiting.state == "queued" and waiting.message.startswith("A stored file is missing.")
    assert str(cluster.folder) not in waiting.message
    elsewhere.kill()
    cluster.host("worker").start_worker().start_sweeper()
    job = finished(key)
    assert (job.state, job.attempt, job.io_failures) == ("done", 2, 0)
    assert Sentence.objects.filter(material_set__name="Corpus").count() == 2 * N_PAIRS


def test_a_storage_that_stays_away_fails_the_job_without_a_path(cluster):
    web = cluster.host("web").start_web().start_sweeper()
    elsewhere = cluster.host("elsewhere")
    folder = elsewhere.folder / "uploads"
    elsewhere.start_worker(UPLOAD_STORAGE=str(folder), JOB_MAX_ATTEMPTS="2")
    job = finished(upload(logged_in(web, cast.ada()), "Corpus"))
    assert (job.state, job.attempt) == ("failed", 2)
    assert job.error.startswith("A stored file is missing.") and "2 attempts have failed" in job.error
    assert str(cluster.folder) not in job.error and "uploads/" not in job.error
    assert not MaterialSet.objects.filter(name="Corpus").exists()


@pytest.mark.parametrize("cluster", ["redis", "rabbitmq"], indirect=True)
def test_killed_hosts_leave_work_that_others_finish_once(cluster):
    """A web host dies in the middle of a session, a worker host in the middle of a job; others wait."""
    study = cast.study()
    marks = MaterialSet.objects.create(name="Marks", slug="marks", checksum="0")
    first, second = cluster.host("first").start_web(), cluster.host("second").start_web()
    worker = cluster.host("third").start_worker(loads="tests.experiments.slow_job")
    session = cast.begin(study)
    trials = list(session.trials.select_related("session__experiment"))
    address = f"/api/v1/sessions/{session.token}/judgments/"
    answers = [{"trial": t.public_id, "response": cast.answer_to(t), "rt_ms": 900.0} for t in trials]
    with first.browser() as browser:
        assert browser.post(address, json={"judgments": answers[:2]}).status_code == 200
    slow = "from config.celery import app; import django; django.setup()\n"
    slow += "from experiments.operation.job_runner import enqueue\n"
    slow += f"enqueue('tests.slow', {{'steps': [6000, 3], 'set': {marks.pk}}})"
    assert second.start("-c", slow).wait() == 0, second.log.read_text()[-2000:]
    job = until(lambda: Job.objects.filter(kind="tests.slow", progress__gte=2).first())
    imports = [upload(logged_in(second, cast.ada()), f"Set {n}") for n in range(2)]  # these wait behind it

    first.kill()
    worker.kill()

    with second.browser() as browser:
        again = browser.post(address, json={"judgments": answers[1:]})  # one of them was acknowledged before
        assert again.status_code == 200
    for name in ("fourth", "fifth"):
        cluster.host(name).start_worker(loads="tests.experiments.slow_job")
    second.start_sweeper()
    job = finished(job.pk)
    assert (job.state, job.attempt, job.result) == ("done", 2, {"attempt": 2})
    assert list(Phenomenon.objects.filter(material_set=marks).values_list("name", flat=True)) == [
        "made by attempt 2"
    ]
    assert [finished(key).state for key in imports] == ["done", "done"]
    for n in range(2):
        assert Sentence.objects.filter(material_set__name=f"Set {n}").count() == 2 * N_PAIRS
    assert Session.objects.get().status == Session.Status.COMPLETE
    stored = Judgment.objects.values_list("trial__public_id", flat=True)
    assert sorted(stored) == sorted(trial.public_id for trial in trials)


def test_links_that_break_again_and_again_lose_and_double_nothing(cluster):
    """Web server and worker are off the network for seconds, once for longer than a heartbeat."""
    study = cast.study()
    sessions = [cast.begin(study, f"person {n}") for n in range(6)]
    web, worker = cluster.host("web").start_web(), cluster.host("worker").start_worker()
    cluster.host("scheduler").start_sweeper()
    key = upload(logged_in(web, cast.ada()), "Corpus")
    is_over, rng, cuts = threading.Event(), random.Random(47), []

    def break_links() -> None:
        while not is_over.wait(rng.uniform(0.3, 1.5)):
            host, seconds = rng.choice([web, worker]), rng.uniform(0.3, 3)
            cuts.append(host)
            host.cut(12 if len(cuts) == 3 else seconds)

    breaking = threading.Thread(target=break_links)
    breaking.start()

    def take_part(session: Session) -> None:
        for trial in session.trials.select_related("session__experiment"):
            answer = {"trial": trial.public_id, "response": cast.answer_to(trial), "rt_ms": 900.0}
            address = f"/api/v1/sessions/{session.token}/judgments/"
            until(lambda: is_acknowledged(address, answer))  # noqa: B023 - called at once
            time.sleep(1)

    def is_acknowledged(address: str, answer: dict[str, object]) -> bool:
        with suppress(httpx.HTTPError), web.browser() as browser:
            return browser.post(address, json={"judgments": [answer]}, timeout=4).status_code == 200
        return False

    try:
        for session in sessions:
            take_part(session)
        job = finished(key)
    finally:
        is_over.set()
        breaking.join()
    assert {*cuts} == {web, worker} and len(cuts) > 5
    assert (job.state, job.error) == ("done", "")
    assert Sentence.objects.filter(material_set__name="Corpus").count() == 2 * N_PAIRS
    assert MinimalPair.objects.filter(material_set__name="Corpus").count() == N_PAIRS
    answers = Judgment.objects.values_list("trial__public_id", flat=True)
    assert len(answers) == len({*answers}) == sum(session.trials.count() for session in sessions)
    assert {session.status for session in Session.objects.all()} == {"complete"}


def waits_for_pairs() -> bool:
    """Whether another connection waits to insert pairs."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass",
            [MinimalPair._meta.db_table],
        )
        return bool(cursor.fetchone()[0])


def test_an_import_killed_between_its_sentences_and_its_pairs_is_finished_once_by_another_host(cluster):
    web = cluster.host("web").start_web()
    killed = cluster.host("killed").start_worker()
    browser = logged_in(web, cast.ada())
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {MinimalPair._meta.db_table} IN EXCLUSIVE MODE")
        key = upload(browser, "Corpus")
        until(waits_for_pairs)  # its items and sentences are inserted
        killed.kill()
    job = Job.objects.get(pk=key)
    assert (job.state, job.attempt, job.progress) == ("running", 1, 2)
    assert not MaterialSet.objects.exists()

    cluster.host("other").start_worker()
    web.start_sweeper()
    job = finished(key)
    assert (job.state, job.attempt, job.error) == ("done", 2, "")
    assert job.result["created"] is True and MaterialSet.objects.get().name == "Corpus"
    assert Sentence.objects.count() == 2 * N_PAIRS and MinimalPair.objects.count() == N_PAIRS
    assert not [path for path in cluster.storage.rglob("*") if path.is_file()]


def frozen_on(host: Host, slug: str) -> Release:
    """The release that Ada builds on this host, once it has ended."""
    fields = {"title": "", "rule": "blimp", "ties": "strict", "seed": "0"}
    asked = post(logged_in(host, cast.ada()), f"/studies/{slug}/releases/", fields)
    assert asked.status_code == 302, asked.text[-2000:]
    release = Release.objects.get(experiment__slug=slug)
    assert finished(release.job_id).state == "done"
    release.refresh_from_db()
    return release


def judgments_in(zipped: bytes) -> tuple[str, int]:
    """Checksum of the manifest of a downloaded release, and its judgments."""
    with zipfile.ZipFile(io.BytesIO(zipped)) as release:
        names = {name.rpartition("/")[2]: name for name in release.namelist()}
        rows = release.read(names["judgments.csv"]).decode().splitlines()
        return storage.checksum(release.read(names["manifest.json"])), len(rows) - 1


def test_a_release_frozen_on_one_host_is_downloaded_from_another(cluster):
    study = judged_study()
    first, worker = cluster.host("first").start_web(), cluster.host("worker").start_worker()
    release = frozen_on(first, study.slug)
    for host in (first, worker):
        host.remove()
    second = cluster.host("second").start_web()
    answer = logged_in(second, cast.ada()).get(f"/studies/{study.slug}/releases/{release.number}.zip")
    assert answer.status_code == 200
    assert judgments_in(answer.content) == (release.sha256, Judgment.objects.count())


@pytest.fixture
def empty_database(transactional_db):
    """The name of an empty database beside the test's."""
    name = f"{connection.settings_dict['NAME']}_elsewhere"
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}"')
    yield name
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def recorded_migrations(cluster):
    """A test database made without migrations says which ones it stands for: a restore goes by them."""
    if "django_migrations" in connection.introspection.table_names():
        yield
        return
    cluster.host("migrating").run("migrate", "--fake", "--verbosity", "0")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE django_migrations")


def test_a_backup_made_on_one_host_is_restored_and_served_on_another(
    cluster, recorded_migrations, empty_database
):
    """The second host has an empty database and empty folders of its own; only the backups are shared."""
    study = judged_study()
    # The tests' own hasher is fast, and no server accepts it.
    hashed = PBKDF2PasswordHasher().encode("ada-password", "salt")
    get_user_model().objects.filter(pk=cast.ada().pk).update(password=hashed)
    first, worker = cluster.host("first").start_web(), cluster.host("worker").start_worker()
    release = frozen_on(first, study.slug)
    backup = json.loads(first.run("backup", "--json"))
    for host in (first, worker):
        host.remove()

    second = cluster.host("second")
    own = {name: str(second.folder / name) for name in ("UPLOAD_STORAGE", "RELEASE_STORAGE")}
    own["DATABASE_URL"] = f"{cluster.environment['DATABASE_URL'].rpartition('/')[0]}/{empty_database}"
    restored = json.loads(second.run("restore", backup["file"], "--json", **own))
    assert restored["backup"]["table_checksums"] == backup["table_checksums"]
    again = json.loads(second.run("backup", "--json", **own))
    assert again["table_checksums"] == backup["table_checksums"]

    browser = second.start_web(**own).browser()
    page = "/accounts/login/"
    entered = post(browser, page, {"login": "ada", "password": "ada-password"})
    assert entered.status_code == 302, entered.text[-2000:]
    answer = browser.get(f"/studies/{study.slug}/releases/{release.number}.zip")
    assert answer.status_code == 200, answer.text[:500]
    assert judgments_in(answer.content) == (release.sha256, Judgment.objects.count())
