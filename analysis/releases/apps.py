"""The concluding side as a Django app."""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """Exclusion plans, releases, scoring runs and comparisons."""

    name = "analysis.releases"
    label = "releases"
    verbose_name = "Concluded: plans, releases and comparisons"

    def ready(self) -> None:
        """Offer stored scores to simulated participants, whose package does not know this one."""
        from analysis.releases import stored_scores  # noqa: PLC0415 (models are loaded by now)
        from judgments.sessions.model_scores import offer_stored  # noqa: PLC0415

        offer_stored(stored_scores.names, stored_scores.scores)
