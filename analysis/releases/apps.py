"""The concluding side as a Django app."""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """Exclusion plans, releases, scoring runs and comparisons."""

    name = "analysis.releases"
    label = "releases"
    verbose_name = "Concluded: plans, releases and comparisons"
