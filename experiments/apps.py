"""The planning side as a Django app."""

from importlib import import_module

from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    """Materials, studies, designs, lists, campaigns, teams and jobs."""

    name = "experiments"
    verbose_name = "Planned: materials and studies"

    def ready(self) -> None:
        """Register the system checks and the receivers of signals."""
        import_module("config.checks")
        import_module("experiments.accounts.adapters")
