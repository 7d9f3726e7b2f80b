"""docker/alerts.yml: Prometheus accepts its rules, and each uses metrics and labels that the platform has."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone

from experiments.models import Campaign, Heartbeat, Job
from experiments.operation import counters
from experiments.operation.backup import KIND
from judgments.models import PlatformCall
from tests import cast
from tests.deployment.compose import DOCKER, ROOT
from tests.judgments.monitoring.test_metrics import SAMPLE

GROUPS = yaml.safe_load((DOCKER / "alerts.yml").read_text())["groups"]
RULES = [rule for group in GROUPS for rule in group["rules"]]
NAMES = [rule["alert"] for rule in RULES]
DURATION = re.compile(r"[1-9]\d*[smhd]")
#: A metric and the conditions on its labels.
SELECTOR = re.compile(r"\b(up|obelus_\w+)(?:\{([^}]*)\})?")
CONDITION = re.compile(r'(\w+)(=~|=)"([^"]*)"')
GROUPING = re.compile(r"\bby \(([^)]*)\)")
WORDS = {"sum", "min", "max", "rate", "absent", "histogram_quantile", "or"}
SCRAPE_LABELS = {"instance", "job"}  # Prometheus adds them
Series = dict[str, list[dict[str, str]]]


@pytest.fixture
def series(client: Client, settings: Any, tmp_path: Path) -> Series:
    """The labels of each metric of a site where everything has happened once."""
    settings.VAR = tmp_path
    counters.counters.add(("responses_5xx_total", 1))
    counters.count_saved(0.1)
    now = timezone.now()
    for process in ("worker@a", "scheduler@a"):
        Heartbeat.objects.create(process=process, at=now)
    Job.objects.create(kind=KIND, state="done", finished_at=now)
    campaign = Campaign.objects.create(experiment=cast.study(), name="a", reward_minor=76, currency="GBP")
    call = {"campaign": campaign, "kind": "approve", "key": "1", "currency": "GBP"}
    PlatformCall.objects.create(**call, state="unknown", sent_at=now)
    found: Series = {"up": [{"job": "obelus", "instance": "web:8000"}]}  # of Prometheus itself
    for line in client.get("/metrics").content.decode().splitlines():
        if match := SAMPLE.fullmatch(line):
            found.setdefault(match[1], []).append(dict(re.findall(r'(\w+)="([^"]*)"', match[2] or "")))
    return found


def meets(labels: dict[str, str], conditions: str) -> bool:
    """Whether a series is selected."""
    parsed = CONDITION.findall(conditions)
    assert ",".join(f'{name}{operator}"{value}"' for name, operator, value in parsed) == conditions
    return all(
        re.fullmatch(value if operator == "=~" else re.escape(value), labels.get(name, ""))
        for name, operator, value in parsed
    )


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_has_what_an_administrator_needs(rule: dict[str, Any]) -> None:
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"Obelus[A-Z]\w+", rule["alert"]) and DURATION.fullmatch(rule["for"])
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"].endswith(".")


@pytest.mark.django_db
@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_expression_selects_series_that_exist(rule: dict[str, Any], series: Series) -> None:
    expression = rule["expr"]
    assert expression.count("(") == expression.count(")")
    selectors = SELECTOR.findall(expression)
    assert selectors
    for name, conditions in selectors:
        assert any(meets(labels, conditions) for labels in series.get(name, [])), (name, conditions)
    names = {name for name, _ in selectors}
    for label in re.findall(r"\w+", " ".join(GROUPING.findall(expression))):
        assert label in SCRAPE_LABELS or any(label in labels for name in names for labels in series[name])
    rest = re.sub(r"\[\d+m\]", "", SELECTOR.sub("", GROUPING.sub("", expression)))
    assert set(re.findall(r"[a-z_]+", rest)) <= WORDS


def test_the_alerts_are_named_once_and_watch_what_a_service_needs() -> None:
    assert len(set(NAMES)) == len(NAMES)
    expected = {"ObelusDown", "ObelusNoWorker", "ObelusNoScheduler", "ObelusJobsWait", "ObelusDiskLow"}
    assert expected | {"ObelusBackupOld", "ObelusLeasesOverdue"} <= set(NAMES)
    assert "absent(" in next(rule["expr"] for rule in RULES if rule["alert"] == "ObelusBackupOld")


def test_the_documented_scrape_jobs_have_the_name_that_the_rules_expect() -> None:
    page = (ROOT / "docs" / "how-to" / "operate.md").read_text()
    examples = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    jobs = [job for example in examples for job in example["scrape_configs"]]
    assert len(jobs) == 3 and {job["job_name"] for job in jobs} == {"obelus"}
    assert all(job["authorization"]["credentials_file"] for job in jobs)
    assert any('up{job="obelus"}' in rule["expr"] for rule in RULES)
