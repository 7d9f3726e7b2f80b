"""The Celery app: it carries ids of Job rows and keeps the clock; the database is the truth."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("obelus")
app.config_from_object("config.celery_settings")
app.autodiscover_tasks(related_name="jobs")
