"""The pages of a study in six groups: its own way from overview to publication."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import reverse

from analysis.plugins.statistics import STATISTICS
from experiments.models import Experiment

register = template.Library()


@dataclass(frozen=True)
class Page:
    """A page of a study, and whether it is the one shown."""

    label: str
    address: str
    is_here: bool


@dataclass(frozen=True)
class Group:
    """Pages that answer one question; the group leads to its first page."""

    label: str
    pages: list[Page]

    @property
    def address(self) -> str:
        """The address of the first page."""
        return self.pages[0].address

    @property
    def is_here(self) -> bool:
        """Whether the page shown belongs to it."""
        return any(page.is_here for page in self.pages)


# Name of the page, of its address, and its label.
GROUPS = {
    "Overview": (
        ("overview", "study", "Overview"),
        ("team", "study-team", "Team"),
        ("webhooks", "study-webhooks", "Webhooks"),
    ),
    "Plan": (
        ("settings", "study-settings", "Task and texts"),
        ("design", "study-design", "Design and lists"),
        ("power", "study-power", "Power and cost"),
    ),
    "Recruit": (
        ("launch", "study-launch", "Launch checklist"),
        ("channels", "study-channels", "Channels"),
        ("campaigns", "study-campaigns", "Campaigns"),
        ("payments", "study-payments", "Payments"),
        ("live", "study-live", "Live"),
    ),
    "Data": (
        ("participants", "study-participants", "Participants"),
        ("judgments", "study-judgments", "Judgments"),
        ("downloads", "study-downloads", "Downloads"),
        ("exclusions", "study-exclusions", "Exclusions"),
    ),
    "Results": (
        ("agreement", "study-agreement", "Agreement"),
        ("progress", "study-progress", "Agreement so far"),
        ("reliability", "study-reliability", "Reliability"),
        ("items", "study-items", "Items"),
        ("ratings", "study-ratings", "Ratings"),
        ("effects", "study-effects", "Effects"),
        ("times", "study-times", "Response times"),
        ("groups", "study-groups", "Groups"),
        ("sequential", "study-sequential", "Bayes factors"),
        ("multiverse", "study-multiverse", "Multiverse"),
        ("statistics", "study-statistics", "Plugins"),
        ("figures", "study-figures", "Figures"),
    ),
    "Publish": (
        ("releases", "study-releases", "Releases"),
        ("reports", "study-reports", "Reports"),
        ("deviations", "study-deviations", "Deviations"),
        ("models", "study-models", "Models"),
    ),
}
COLLECTED = {
    "launch",
    "channels",
    "campaigns",
    "payments",
    "live",
    "progress",
}  # pages that an imported study does not have
#: Pages beside the group *Results* whose numbers may be those of a pilot or dry run.
FOLLOWS_DATA = {"judgments", "downloads", "exclusions", "power"}
BELONGS = {"ordinal": "effects"}  # pages without an entry of their own


@register.inclusion_tag("experiments/_study_nav.html")
def study_nav(study: Experiment, page: str = "") -> dict[str, Any]:
    """Show the study's name, the groups, and the pages of the group of the page shown."""
    return {"study": study, "groups": page_groups(study, page)}


def follows_data(page: str) -> bool:
    """Whether the numbers of a page may be those of a pilot or dry run."""
    results = {name for name, *_ in GROUPS["Results"]}
    return BELONGS.get(page, page) in FOLLOWS_DATA | results


def data_query(study: Experiment, page: str) -> str:
    """The query that keeps the data shown, on pages that follow it."""
    return f"?data={study.data}" if study.data and follows_data(page) else ""


def page_groups(study: Experiment, page: str) -> list[Group]:
    """The groups of a study; those without a page are left out."""
    here = BELONGS.get(page, page)
    is_collected = study.origin == Experiment.Origin.COLLECTED
    groups = [
        Group(
            label,
            [
                Page(title, reverse(address, args=[study.slug]) + data_query(study, name), name == here)
                for name, address, title in pages
                if (is_collected or name not in COLLECTED) and (name != "statistics" or STATISTICS)
            ],
        )
        for label, pages in GROUPS.items()
    ]
    return [group for group in groups if group.pages]
