"""The scheduler sends every task after a start, and goes on when the clock is set back."""

from datetime import timedelta

import pytest

from config.celery import app
from config.job_queue import scheduler
from config.job_queue.scheduler import Scheduler

HOUR = timedelta(hours=1)


@pytest.fixture
def sent(monkeypatch):
    """Names of the tasks that schedulers send."""
    names = []
    monkeypatch.setattr(Scheduler, "apply_entry", lambda self, entry, producer=None: names.append(entry.name))
    return names


def tick_through(running):
    """Tick until the scheduler waits for the next task."""
    for _ in range(3 * len(running.schedule)):
        if running.tick() > 0:
            break


def test_every_task_is_sent_once_after_a_start(sent):
    running = Scheduler(app)
    tick_through(running)
    assert sorted(sent) == sorted(app.conf.beat_schedule)
    sent.clear()
    tick_through(running)
    assert sent == []


def test_a_clock_that_is_set_back_stops_no_task(sent, monkeypatch):
    running = Scheduler(app)
    tick_through(running)
    for entry in running.schedule.values():
        entry.last_run_at = entry.default_now() + HOUR
    running.populate_heap()
    sent.clear()
    tick_through(running)
    assert sent == []
    offset_s = running.offset_s - HOUR.total_seconds()
    monkeypatch.setattr(scheduler, "clock_offset_s", lambda: offset_s)
    tick_through(running)
    assert sorted(sent) == sorted(app.conf.beat_schedule)
