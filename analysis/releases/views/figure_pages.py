"""All figures of a study on one page: what can be drawn with its downloads, and why others do not apply."""

from itertools import groupby

from django.http import HttpRequest, HttpResponseBase

import analysis  # figures through the package, which loads Altair when the first one is drawn
from analysis.releases.forms import ExcludeForm
from analysis.releases.plans import find_plan
from analysis.releases.study_evidence import study_evidence
from analysis.releases.views.figures import study_figure
from analysis.releases.views.pages import page, study_page, valid_or_default
from experiments.models import Experiment


@study_page
def figures(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The figures under a plan, in the order of the registry."""
    form = ExcludeForm(request.GET or None, experiment=study)
    valid = valid_or_default(form)
    exclude = form.exclude() if valid else ""
    evidence = study_evidence(study, exclude=exclude)
    drawable, others = analysis.figures.applicable(evidence)
    query = request.GET.urlencode() if valid else ""
    groups = [
        {"drawings": [_shown(study, drawing, query=query) for drawing in drawings]}
        for _, drawings in groupby(drawable, key=lambda drawing: drawing.number)
    ]
    return page(
        request,
        study,
        "figures",
        form=form,
        plan=find_plan(study, exclude),
        groups=groups,
        n_drawable=len(drawable),
        others=others,
        query=query,
        status=200 if valid else 400,
    )


def _shown(study: Experiment, drawing: "analysis.figures.Drawing", *, query: str) -> dict[str, object]:
    text = f"{drawing.title}. {drawing.shows}."
    figure = study_figure(study, drawing.name, alt_text=text, caption=f"{drawing.shows}.", query=query)
    return {"figure": figure, "drawing": drawing}
