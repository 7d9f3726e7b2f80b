"""The scheduler starts whatever a kill left of its file, and goes on when the clock is set back."""

from datetime import timedelta

import pytest

from config.celery import app
from config.job_queue import scheduler
from config.job_queue.scheduler import Scheduler

HOUR = timedelta(hours=1)


@pytest.fixture
def begin(tmp_path):
    """Start a scheduler on the same file again and again."""
    return lambda: Scheduler(app, schedule_filename=str(tmp_path / "beat"))


def test_the_scheduler_stores_the_time_of_the_last_run(begin):
    first = begin()
    name = "expire abandoned sessions"
    first.schedule[name] = next(first.schedule[name])
    first.close()
    assert begin().schedule[name].total_run_count == 1


def test_a_new_installation_has_no_folder_for_the_schedule_yet(tmp_path):
    started = Scheduler(app, schedule_filename=str(tmp_path / "var" / "beat"))
    assert set(app.conf.beat_schedule) <= set(started.schedule)
    started.close()


@pytest.mark.parametrize("kept_bytes", [0, 520, 1100, 2100, 2400])
def test_a_truncated_schedule_file_is_recreated(begin, tmp_path, kept_bytes):
    begin().close()
    largest = max(tmp_path.iterdir(), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:kept_bytes])
    reopened = begin()
    assert set(app.conf.beat_schedule) <= set(reopened.schedule)
    reopened.close()
    assert set(app.conf.beat_schedule) <= set(begin().schedule)


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


def ran_in_the_future(running):
    """What a scheduler holds that ran while the clock was an hour ahead."""
    for entry in running.schedule.values():
        entry.last_run_at = entry.default_now() + HOUR
    running.populate_heap()


def test_a_clock_that_is_set_back_stops_no_task(begin, sent, monkeypatch):
    running = begin()
    tick_through(running)
    ran_in_the_future(running)
    tick_through(running)
    sent.clear()
    monkeypatch.setattr(scheduler, "clock_offset_s", lambda: running.offset_s - HOUR.total_seconds())
    tick_through(running)
    assert set(app.conf.beat_schedule) <= set(sent)


def test_a_scheduler_that_starts_after_the_clock_was_set_back_sends_every_task(begin, sent):
    earlier = begin()
    ran_in_the_future(earlier)
    earlier.close()
    tick_through(begin())
    assert set(app.conf.beat_schedule) <= set(sent)
