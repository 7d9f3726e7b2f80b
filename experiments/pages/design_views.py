"""How items become lists, with the proof that they are balanced."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.design.proof import claims, list_counts
from experiments.design.trials import PlannedTrial
from experiments.lists import design_of, planned
from experiments.models import Experiment, MinimalPair, Sentence
from experiments.pages.access import audit, get_study, may_edit
from experiments.pages.settings_forms import DesignForm
from experiments.pages.settings_views import next_version
from judgments.tasks.registry import shown_task

SHOWN_TRIALS = 300


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the design and the lists it makes; store another one."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    form = DesignForm(request.POST or None, instance=design_of(study))
    if request.method == "POST" and form.is_valid():
        form.save()
        audit(request.user, study, "design changed", fields=", ".join(sorted(form.changed_data)))
        messages.success(request, "Saved. The lists below are what it makes.")
        return redirect("study-design", slug)
    context = {
        "study": study,
        "page": "design",
        "form": form,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "next_version": next_version(study),
        **preview(study, request.GET.get("list", "1")),
    }
    return render(request, "experiments/design.html", context)


def preview(study: Experiment, chosen: str) -> dict[str, Any]:
    """The lists the stored design makes, their proof and one to read; or why there are none."""
    try:
        lists = planned(study)
        number = min(max(int(chosen), 1), len(lists)) if chosen.isdecimal() else 1
        trials = shown_trials(study, lists[number - 1][:SHOWN_TRIALS])
    except BadInput as error:
        return {"problem": str(error)[:1].upper() + str(error)[1:]}
    counted = [list_counts(one) for one in lists]
    named = sorted({name for one in counted for name in one.conditions})
    conditions = named if len(named) > 1 else []
    return {
        "claims": claims(lists),
        "conditions": conditions,
        "rows": [
            (place, one, [one.conditions.get(name, 0) for name in conditions])
            for place, one in enumerate(counted, start=1)
        ],
        "has_sides": shown_task(study.task).shows == "pair",
        "chosen": number,
        "trials": trials,
        "n_hidden": max(0, len(lists[number - 1]) - SHOWN_TRIALS),
    }


def shown_trials(study: Experiment, trials: list[PlannedTrial]) -> list[dict[str, Any]]:
    """The trials of one list with what they show, in the order of the screen."""
    texts = texts_of(study, trials)
    entries = {"practice": study.practice, "anchor": study.anchors, "catch": study.catch_trials}
    shown = []
    for trial in trials:
        sentences = (
            _written(entries[trial.kind][int(trial.key)])
            if trial.kind in entries
            else [text for key in trial.key.split(",") for text in texts[int(key)]]
        )
        if trial.expected_first is False:
            sentences = sentences[::-1]
        shown.append({"trial": trial, "sentences": sentences})
    return shown


def texts_of(study: Experiment, trials: list[PlannedTrial]) -> dict[int, list[str]]:
    """Sentences of planned targets and fillers by the row's id; of a pair, the expected one first."""
    planned = [trial.key for trial in trials if trial.kind in {"target", "filler"}]
    keys = {int(key) for one in planned for key in one.split(",")}  # a set names all its sentences
    if shown_task(study.task).shows == "pair":
        pairs = MinimalPair.objects.filter(pk__in=keys).select_related("good", "bad")
        return {pair.pk: [pair.good.text, pair.bad.text] for pair in pairs}
    return {one.pk: [one.text] for one in Sentence.objects.filter(pk__in=keys)}


def _written(entry: dict[str, Any]) -> list[str]:
    """Sentences of a trial that the study itself holds, the right one first."""
    if "options" not in entry:
        return [entry["text"]]
    texts = [one["text"] for one in entry["options"]]
    return texts[::-1] if entry.get("correct") == 1 else texts
