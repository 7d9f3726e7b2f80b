"""The Celery app: messages carry ids of ``Job`` rows, and the database holds their state."""

import os

from celery import Celery
from celery.signals import beat_init, worker_init

from config.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("obelus")
app.config_from_object("config.job_queue.celery_settings")
app.autodiscover_tasks(related_name="jobs")
app.autodiscover_tasks(["judgments.recruitment"], related_name="jobs")
worker_init.connect(refuse_unsafe_start)
beat_init.connect(refuse_unsafe_start)
