"""The observing side as a Django app."""

from django.apps import AppConfig


class JudgmentsConfig(AppConfig):
    """Participants, sessions, trials, judgments and payments."""

    name = "judgments"
    verbose_name = "Observed: sessions and judgments"
