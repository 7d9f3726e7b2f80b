"""Metrics count what happened, in a form that Prometheus reads, for those who may see them."""

import mmap
import os
import re
from pathlib import Path

import pytest
import structlog
import yaml

from config.http.request_id import add_request_id
from experiments.operation import counters, middleware
from tests import cast
from tests.judgments.deliveries import send

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
SAMPLE = re.compile(r'(obelus_[a-z_]+)(\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? (-?[\d.e+-]+)')


@pytest.fixture(autouse=True)
def fresh_counters(settings, tmp_path, monkeypatch):
    settings.VAR = tmp_path
    monkeypatch.setattr(counters.counters, "pid", 0)  # opens a file in the folder of this test


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


def test_alert_rules_use_metrics_that_exist(client):
    counters.counters.add(("arrivals_total", 1))
    client.get("/health/ready")
    text = client.get("/metrics").content.decode()
    names = set(re.findall(r"# TYPE (\w+) (?:counter|gauge)", text))
    names |= {f"obelus_answer_save_seconds_{end}" for end in ("bucket", "sum", "count")}
    names.add("obelus_last_backup_timestamp_seconds")  # from the first backup on
    rules = yaml.safe_load((ROOT / "docker" / "alerts.yml").read_text())["groups"][0]["rules"]
    used = {name for rule in rules for name in re.findall(r"obelus_\w+", rule["expr"])}
    assert len(rules) >= 8 and used <= names, used - names
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] for rule in rules)


def test_each_request_has_an_id_in_its_response_and_log_lines(client):
    def view(request):
        seen.append(add_request_id(None, "warning", {})["request_id"])
        return answer

    seen: list[str] = []
    answer = client.get("/health/live")
    log_requests = middleware.RequestLogMiddleware(view)
    request = answer.wsgi_request
    request.META["HTTP_X_REQUEST_ID"] = "from-the-proxy-1"
    assert log_requests(request)["X-Request-ID"] == "from-the-proxy-1" == seen[0]
    request.META["HTTP_X_REQUEST_ID"] = "with spaces\nand lines"
    assert re.fullmatch("[0-9a-f]{16}", log_requests(request)["X-Request-ID"]) and seen[1] != seen[0]
    assert add_request_id(None, "warning", {}) == {}


def test_slow_request_is_logged_by_its_view_and_without_its_token(client, monkeypatch):
    session = cast.begin(cast.study())
    monkeypatch.setattr(middleware, "SLOW_S", -1)
    with structlog.testing.capture_logs() as lines:
        client.get(f"/s/{session.token}/")
    assert lines[0]["event"] == "slow request" and session.token not in str(lines)
