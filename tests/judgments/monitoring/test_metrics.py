"""Metrics count what happened, in a form that Prometheus reads, for those who may see them."""

import mmap
import os
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
from django.utils import timezone

from config.http import middleware
from experiments.models import Heartbeat, Job
from experiments.operation import counters, health
from experiments.operation.backup import KIND
from judgments.models import Payment, Session
from tests import cast
from tests.experiments.operation.installation import installed
from tests.judgments.deliveries import send

pytestmark = pytest.mark.django_db
SAMPLE = re.compile(r'(obelus_[a-z_]+)(\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? (-?[\d.e+-]+)')


@pytest.fixture(autouse=True)
def fresh_counters(settings, tmp_path):
    settings.VAR = tmp_path


def samples(client, **headers):
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.content.decode().splitlines() if not line.startswith("# ")]
    found = [SAMPLE.fullmatch(line) for line in lines]
    assert all(found), lines
    return {match[1] + (match[2] or ""): float(match[3]) for match in found}


def test_answers_arrivals_and_latencies_are_counted(client):
    session = cast.begin(cast.study())
    trial = session.trials.first()
    row = {"trial": trial.public_id, "response": cast.answer_to(trial), "rt_ms": 812}
    send(session, row)
    send(session, row)
    values = samples(client)
    assert values["obelus_arrivals_total"] == 1
    assert values["obelus_judgments_stored_total"] == 1 and values["obelus_judgments_repeated_total"] == 1
    assert values["obelus_answer_save_seconds_count"] == 2
    assert values['obelus_answer_save_seconds_bucket{le="+Inf"}'] == 2
    assert values['obelus_responses_total{class="2xx"}'] >= 2
    assert values['obelus_sessions{status="active"}'] == 1 and values['obelus_leases{state="held"}'] == 1


def test_processes_of_a_host_are_added_up(client, tmp_path):
    counters.counters.add(("arrivals_total", 2))
    own = next((tmp_path / "counters").glob("*.counters"))
    (tmp_path / "counters" / "1.counters").write_bytes(own.read_bytes())
    (tmp_path / "counters" / "2.counters").write_bytes(b"of another version")
    assert samples(client)["obelus_arrivals_total"] == 4


def test_full_disk_stops_no_answer(monkeypatch, settings):
    settings.VAR = Path("/dev/null")
    counters.counters.add(("arrivals_total", 1))
    assert counters.totals()["arrivals_total"] == 0


def test_the_space_of_the_counters_is_taken_before_they_are_mapped(monkeypatch):
    blocks, map_file = [], mmap.mmap

    def spy(file, size):
        blocks.append(os.fstat(file).st_blocks)  # a hole has none: on a full disk its first write is fatal
        return map_file(file, size)

    monkeypatch.setattr(counters.mmap, "mmap", spy)
    counters.counters.add(("arrivals_total", 1))
    assert len(blocks) == 1 and blocks[0] > 0


def test_metrics_need_the_token_or_this_machine(client, settings):
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code == 403
    assert client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 403
    settings.METRICS_TOKEN = "a token"
    assert client.get("/metrics").status_code == 403
    assert client.get("/metrics", headers={"Authorization": "Bearer other"}).status_code == 403
    samples(client, Authorization="Bearer a token")


def test_metrics_of_a_host_are_scraped_by_its_own_address(client, settings):
    settings.ALLOWED_HOSTS = ["judgments.example.org", "10.0.0.5"]
    settings.SECURE_SSL_REDIRECT, settings.BEHIND_PROXY = True, True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    scraper = {"Host": "10.0.0.5:8000", "X-Forwarded-Proto": "https"}
    assert client.get("/metrics", headers=scraper).status_code == 403  # a proxy needs the token
    settings.METRICS_TOKEN = "a token"
    samples(client, **scraper, Authorization="Bearer a token")
    other = {**scraper, "Host": "10.0.0.6:8000", "Authorization": "Bearer a token"}
    assert client.get("/metrics", headers=other).status_code == 400


def test_jobs_are_measured_by_state_age_and_retries(client):
    now = timezone.now()
    for state, attempt in (("queued", 0), ("queued", 2), ("running", 1), ("done", 1), ("failed", 4)):
        Job.objects.create(kind="test.work", state=state, attempt=attempt)
    assert samples(client)["obelus_job_queue_oldest_seconds"] < 60
    Job.objects.filter(state="queued", attempt=2).update(created_at=now - timedelta(hours=2))
    Job.objects.filter(state="done").update(created_at=now - timedelta(hours=9))  # waits no longer
    values = samples(client)
    states = {state: values[f'obelus_jobs{{state="{state}"}}'] for state in ("queued", "running", "failed")}
    assert states == {"queued": 2, "running": 1, "failed": 1}
    assert values["obelus_job_queue_oldest_seconds"] == pytest.approx(7200, abs=60)
    assert values["obelus_job_retries"] == 1 + 3


def test_overdue_leases_are_those_of_active_sessions_whose_time_is_over(client):
    study = cast.study()
    for name in ("pia", "sol", "tess"):
        cast.begin(study, name)
    late, over = cast.begin(study, "quentin"), cast.begin(study, "rosa")
    past = timezone.now() - timedelta(minutes=1)
    Session.objects.filter(pk__in=[late.pk, over.pk]).update(lease_expires_at=past)
    Session.objects.filter(pk=over.pk).update(status="abandoned")
    values = samples(client)
    assert (values['obelus_leases{state="held"}'], values['obelus_leases{state="overdue"}']) == (3, 1)
    assert values['obelus_sessions{status="active"}'] == 4
    assert values['obelus_sessions{status="abandoned"}'] == 1


def test_payments_are_counted_and_added_up_by_kind_and_currency(client):
    session = cast.begin(cast.study())
    entries = (("reward", 250, "GBP"), ("reward", 300, "GBP"), ("bonus", 50, "GBP"), ("reward", 400, "USD"))
    for number, (kind, amount, currency) in enumerate(entries):
        Payment.objects.create(
            session=session, kind=kind, amount_minor=amount, currency=currency, idempotency_key=str(number)
        )
    values = samples(client)
    counted = {name: value for name, value in values.items() if name.startswith("obelus_payments")}
    assert counted == {
        'obelus_payments{kind="bonus",currency="GBP"}': 1,
        'obelus_payments{kind="reward",currency="GBP"}': 2,
        'obelus_payments{kind="reward",currency="USD"}': 1,
        'obelus_payments_minor{kind="bonus",currency="GBP"}': 50,
        'obelus_payments_minor{kind="reward",currency="GBP"}': 550,
        'obelus_payments_minor{kind="reward",currency="USD"}': 400,
    }


def test_signs_of_life_are_ages_of_workers_and_schedulers(client):
    client.get("/health/ready")  # its own row is no process
    now = timezone.now()
    for process, seconds in {"worker@a": 5, "worker@b": 300, "scheduler@a": 40}.items():
        Heartbeat.objects.create(process=process, at=now - timedelta(seconds=seconds))
    values = samples(client)
    ages = {name: value for name, value in values.items() if name.startswith("obelus_heartbeat_age")}
    assert ages == {
        'obelus_heartbeat_age_seconds{process="worker@a"}': pytest.approx(5, abs=60),
        'obelus_heartbeat_age_seconds{process="worker@b"}': pytest.approx(300, abs=60),
        'obelus_heartbeat_age_seconds{process="scheduler@a"}': pytest.approx(40, abs=60),
    }


def test_disks_are_measured_by_folder(client, monkeypatch, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    sizes = {settings.VAR: (30, 120), settings.MEDIA_ROOT: (5, 50)}
    monkeypatch.setattr(health, "_space", lambda folder: sizes.get(folder, (1, 2)))
    values = samples(client)
    shares = {name: values[f'obelus_disk_free_ratio{{folder="{name}"}}'] for name in ("data", "uploads")}
    assert shares == {"data": 0.25, "uploads": 0.1}
    assert values['obelus_disk_free_bytes{folder="uploads"}'] == 5
    monkeypatch.undo()
    free = shutil.disk_usage(settings.VAR).free
    assert samples(client)['obelus_disk_free_bytes{folder="data"}'] == pytest.approx(free, rel=0.5)


def test_the_age_of_backups_counts_from_the_installation_until_there_is_one(client):
    now = timezone.now()
    installed(days_ago=3)
    Job.objects.create(kind=KIND, state="failed", finished_at=now)
    values = samples(client)
    assert values["obelus_backup_age_seconds"] == pytest.approx(3 * 86400, abs=60)
    assert "obelus_last_backup_timestamp_seconds" not in values
    for hours in (30, 2):
        Job.objects.create(kind=KIND, state="done", finished_at=now - timedelta(hours=hours))
    values = samples(client)
    assert values["obelus_backup_age_seconds"] == pytest.approx(2 * 3600, abs=60)
    assert values["obelus_last_backup_timestamp_seconds"] == pytest.approx(now.timestamp() - 7200, abs=60)


def test_slow_request_is_logged_by_its_view_and_without_its_token(client, monkeypatch):
    session = cast.begin(cast.study())
    monkeypatch.setattr(middleware, "SLOW_S", -1)
    with structlog.testing.capture_logs() as lines:
        client.get(f"/s/{session.token}/")
    assert lines[0]["event"] == "slow request" and session.token not in str(lines)
