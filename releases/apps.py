"""Django app of the concluding side."""

from importlib import import_module

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """Exclusion plans, releases, scoring runs and comparisons."""

    name = "releases"
    label = "releases"
    verbose_name = "Concluded: plans, releases and comparisons"

    def ready(self) -> None:
        """Connect the receivers; register stored scores with the simulation, which imports no releases."""
        import_module("releases.erasure")
        from judgments.simulation import stored_runs  # noqa: PLC0415
        from releases.scoring import stored_scores  # noqa: PLC0415 (models are loaded by now)

        stored_runs.offer(stored_scores.names, stored_scores.scores)
