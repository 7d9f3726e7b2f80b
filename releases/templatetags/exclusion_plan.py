"""The chip that names the exclusion plan on every page of a study's data and results."""

from typing import Any

from django import template

from analysis.exclusions.plan import Plan
from releases.gold.plans import current_plan, find_plan

register = template.Library()
#: Pages whose numbers, files or figures depend on an exclusion plan, by their name in the study's menu.
PAGES = (
    "agreement",
    "deviations",
    "downloads",
    "effects",
    "exclusions",
    "figures",
    "items",
    "judgments",
    "models",
    "ordinal",
    "power",
    "progress",
    "ratings",
    "releases",
    "reliability",
    "reports",
)


@register.inclusion_tag("releases/_plan_chip.html", takes_context=True)
def plan_chip(context: template.RequestContext) -> dict[str, Any]:
    """The plan of the page (that of its release, where it shows one), beside the study's current one.

    Empty on pages that no plan affects.
    """
    study, page = context.get("study"), context.get("page")
    if study is None or page not in PAGES:
        return {}
    current = current_plan(study)
    comparison = context.get("comparison")
    release = context.get("release") or (comparison.release if comparison else None)
    plan = context.get("plan")
    if release is not None:
        plan = find_plan(study, release.options.get("exclude", ""))
    displayed_plan = plan if isinstance(plan, Plan) else current
    return {
        "study": study,
        "shown": plan_name(displayed_plan),
        "current": plan_name(current),
        "is_current": displayed_plan.sha256 == current.sha256,
        "release": release,
        "n_steps": len(displayed_plan.steps),
    }


def plan_name(plan: Plan) -> str:
    """``name vN``, the steps of a plan that is not stored, or empty where nothing is excluded."""
    if not plan.steps:
        return ""
    return f"{plan.name} v{plan.version}" if plan.created_at else plan.name.replace(",", ", ")
