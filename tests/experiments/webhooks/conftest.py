"""A receiver, and a webhook of Ada's study that leads to it."""

import pytest

from experiments import jobs
from experiments.operation import job_runner
from experiments.webhooks.events import DELIVER
from tests import cast, webhook_events
from tools.doubles import receiver as double


@pytest.fixture(autouse=True)
def _private_targets(settings, monkeypatch):
    """Receivers of the tests are on this machine; ids are not sent to a broker."""
    assert DELIVER in job_runner.KINDS and jobs
    settings.WEBHOOK_PRIVATE_TARGETS = True
    monkeypatch.setattr(job_runner, "send", lambda job_id: None)


@pytest.fixture
def receiver():
    with double.running() as server:
        yield server


@pytest.fixture
def study(db):
    return cast.study("agreement")


@pytest.fixture
def run_deliveries():
    """Run every delivery that waits, as a worker would."""
    return webhook_events.run_deliveries
