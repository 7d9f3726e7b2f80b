"""The scheduler starts whatever a kill left of its file."""

import pytest

from config.celery import app
from config.job_queue.scheduler import Scheduler


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


@pytest.mark.parametrize("kept_bytes", [0, 520, 1100, 2100, 2400])
def test_a_truncated_schedule_file_is_recreated(begin, tmp_path, kept_bytes):
    begin().close()
    largest = max(tmp_path.iterdir(), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:kept_bytes])
    reopened = begin()
    assert set(app.conf.beat_schedule) <= set(reopened.schedule)
    reopened.close()
    assert set(app.conf.beat_schedule) <= set(begin().schedule)
