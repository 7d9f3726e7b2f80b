"""Django app of data collection."""

from importlib import import_module

from django.apps import AppConfig


class JudgmentsConfig(AppConfig):
    """Participants, sessions, trials, judgments and payments."""

    name = "judgments"
    verbose_name = "Observed: sessions and judgments"

    def ready(self) -> None:
        """Register the receivers of signals."""
        import_module("judgments.privacy.purge")
