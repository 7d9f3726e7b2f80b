"""Celery settings: an embedded folder broker by default, RabbitMQ or Redis by URL."""

from django.conf import settings
from kombu.entity import Queue
from kombu.transport import TRANSPORT_ALIASES

broker_url = settings.CELERY_BROKER_URL
broker_connection_retry_on_startup = True
task_ignore_result = True
# A real broker delivers a killed worker's message again; for the folder, requeue_stale_jobs sends it.
task_acks_late = True
task_reject_on_worker_lost = True
worker_prefetch_multiplier = 1
task_default_queue = "obelus"
task_queues = [Queue(name, routing_key=name) for name in ("obelus", "cpu")]  # GPU workers add -Q gpu
timezone = "UTC"
beat_scheduler = "config.job_queue.scheduler:Scheduler"
beat_schedule = {  # intervals in seconds
    "requeue stale jobs": {"task": "experiments.requeue_stale_jobs", "schedule": 15.0},
    "expire abandoned sessions": {"task": "judgments.expire_sessions", "schedule": 60.0},
    "grant qualifications": {"task": "judgments.grant_qualifications", "schedule": 60.0},
    "handle platform events": {"task": "judgments.handle_platform_events", "schedule": 30.0},
    "reconcile campaigns": {"task": "judgments.reconcile_campaigns", "schedule": 300.0},
    "raise alerts": {"task": "judgments.raise_alerts", "schedule": 300.0},
    "check balances": {"task": "judgments.check_balances", "schedule": 3600.0},
    "forget old previews": {"task": "judgments.prune_previews", "schedule": 3600.0},
    "back up": {"task": "experiments.back_up", "schedule": 300.0},
    "delete expired rows": {"task": "experiments.delete_expired_rows", "schedule": 3600.0},
    "discard unfinished uploads": {"task": "experiments.discard_unfinished_uploads", "schedule": 3600.0},
    "purge platform ids": {"task": "judgments.purge_platform_ids", "schedule": 3600.0},
    "check quality": {"task": "releases.check_quality", "schedule": 300.0},
}

if broker_url.startswith("filesystem://"):
    TRANSPORT_ALIASES["filesystem"] = "config.job_queue.folder_broker:Transport"
    folders = {name: settings.CELERY_BROKER_FOLDER / name for name in ("messages", "control")}
    broker_transport_options = {
        "data_folder_in": str(folders["messages"]),
        "data_folder_out": str(folders["messages"]),
        "control_folder": str(folders["control"]),
    }
