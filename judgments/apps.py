"""Django app of data collection."""

from django.apps import AppConfig


class JudgmentsConfig(AppConfig):
    """Participants, sessions, trials, judgments and payments."""

    name = "judgments"
    verbose_name = "Observed: sessions and judgments"
