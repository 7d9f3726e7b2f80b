"""The planning side as a Django app."""

from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    """Materials, studies, designs, lists, campaigns, teams and jobs."""

    name = "experiments"
    verbose_name = "Planned: materials and studies"
