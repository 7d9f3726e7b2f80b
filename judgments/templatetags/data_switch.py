"""The switch between data collection, pilot and dry run, and the banner over results that do not count."""

from typing import Any

from django import template

from experiments.models import Experiment
from experiments.templatetags.navigation import follows_data
from judgments.frames.data_source import available_data

register = template.Library()


@register.inclusion_tag("judgments/_data_switch.html", takes_context=True)
def data_switch(context: template.RequestContext) -> dict[str, Any]:
    """Links to the same page with other data; empty where the study has one kind of data only."""
    study, page = context.get("study"), context.get("page")
    if not isinstance(study, Experiment) or not follows_data(str(page)):
        return {}
    counts = available_data(study)
    if not study.data and len(counts) == 1:
        return {}
    counts.setdefault(study.data, 0)
    query = context["request"].GET.copy()
    query.pop("page", None)
    options = []
    for data, n in counts.items():
        query["data"] = data
        if not data:
            del query["data"]
        options.append(
            {
                "label": Experiment.Data(data).label,
                "address": f"?{query.urlencode()}",
                "n": n,
                "is_here": data == study.data,
            }
        )
    return {"study": study, "shown": Experiment.Data(study.data), "options": options}
