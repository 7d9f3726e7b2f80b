"""Create the demo; each step checks what exists, so that a second call is quick and changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass

from judgments.models import Judgment
from releases.demo.campaign import closed_campaign
from releases.demo.conclusions import TRAINING, comparison_of, plan_of, release_of, runs_of, training_runs_of
from releases.demo.login import demo_user
from releases.demo.materials import island_materials, pair_materials
from releases.demo.people import N_MAIN, N_OTHERS, backdate_opening, simulate_participants
from releases.demo.studies import open_demo_study, plans
from releases.models import Comparison, Release


@dataclass(frozen=True)
class Demo:
    """What the demo consists of, and whether this call created it."""

    studies: list[str]
    judgments: int
    releases: int
    comparisons: int
    is_new: bool


MAIN, RATED = "demo", "demo-likert"


def make_demo(notify: Callable[[str], None] = lambda line: None) -> Demo:
    """Create materials, studies, participants, releases, scores and comparisons."""
    owner = demo_user()
    is_new = not Comparison.objects.filter(created_by=owner, release__experiment__slug=RATED).exists()
    if is_new:
        notify("Creating the demo (once, about half a minute) ...")
    materials = {"demo-yes-no": island_materials(owner)}
    pairs = pair_materials(owner)
    studies = {}
    for plan in plans():
        study = studies[plan.slug] = open_demo_study(plan, materials.get(plan.slug, pairs), owner)
        if is_new:
            plan_of(study, owner)
            if not study.sessions.exists():
                backdate_opening(study)
            simulate_participants(study, N_MAIN if plan.slug == MAIN else N_OTHERS, notify=notify)
    if is_new:
        closed_campaign(studies[MAIN], owner)
    if is_new:
        notify("Releases, n-gram models, comparisons ...")
        runs = runs_of(studies[MAIN], owner)
        trained = training_runs_of(studies[MAIN], owner)
        for slug, rule in ((MAIN, "0.75"), (RATED, "")):
            release = release_of(studies[slug], owner, rule=rule)
            if slug == MAIN:
                comparison_of(release, trained, owner, title=TRAINING)
            comparison_of(release, runs, owner)
    return Demo(
        list(studies),
        Judgment.objects.filter(trial__session__experiment__in=studies.values()).count(),
        Release.objects.filter(created_by=owner, state=Release.State.READY).count(),
        Comparison.objects.filter(created_by=owner).count(),
        is_new,
    )
