"""How items become lists, with the proof that they are balanced."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial
from experiments.design_proof import RoundProof, proofs
from experiments.lists import design_of
from experiments.models import Experiment, MinimalPair, Sentence
from experiments.pages.access import audit, get_study, may_edit
from experiments.pages.design_forms import DesignForm, RoundForm
from experiments.pages.settings_views import next_version
from experiments.readiness import lists_of
from experiments.rounds import rounds_of
from judgments.tasks.registry import shown_task

SHOWN_TRIALS = 300


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the design and the lists it makes; store another one."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    form = DesignForm(request.POST or None, instance=design_of(study), user=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        audit(request.user, study, "design changed", fields=", ".join(sorted(form.changed_data)))
        if lists_of(study).problem:
            messages.error(request, "Saved, but no lists can be made so: the reason stands below.")
        else:
            messages.success(request, "Saved. The lists below are what it makes.")
        return redirect("study-design", slug)
    return render(request, "experiments/design.html", design_context(request, study, form))


def design_context(
    request: HttpRequest, study: Experiment, form: DesignForm, *, wrong: RoundForm | None = None
) -> dict[str, Any]:
    """What the design page shows; ``wrong`` is the form of a round that cannot be stored."""
    further = rounds_of(design_of(study), study)[1:]
    forms = [wrong if wrong and wrong.round == one else RoundForm(study=study, one=one) for one in further]
    return {
        "study": study,
        "page": "design",
        "form": form,
        "round_forms": forms,
        "wrong_round": wrong.round.number if wrong else None,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "may_start_round": study.status not in {Experiment.Status.DRAFT, Experiment.Status.CLOSED},
        "next_version": next_version(study),
        **preview(study, request.GET.get("list", "1")),
    }


def preview(study: Experiment, chosen: str) -> dict[str, Any]:
    """The lists the stored design makes, their proof and one to read; or why there are none."""
    try:
        rounds = proofs(study)
        lists = {label: trials for one in rounds for label, trials in one.lists.items()}
        label = chosen if chosen in lists else next(iter(lists))
        trials = shown_trials(study, list(lists[label][:SHOWN_TRIALS]))
    except BadInput as error:
        return {"problem": str(error)[:1].upper() + str(error)[1:]}
    return {
        "rounds": [table_of(one) for one in rounds],
        "has_sides": shown_task(study.task).shows == "pair",
        "chosen": label,
        "trials": trials,
        "n_hidden": max(0, len(lists[label]) - SHOWN_TRIALS),
    }


def table_of(one: RoundProof) -> dict[str, Any]:
    """One round's proof: claims, and a row of counts for each list."""
    named = sorted({name for counts in one.counts.values() for name in counts.conditions})
    conditions = named if len(named) > 1 else []
    return {
        "round": one.round,
        "claims": one.claims,
        "conditions": conditions,
        "rows": [
            (label, counts, [counts.conditions.get(name, 0) for name in conditions])
            for label, counts in one.counts.items()
        ],
        "has_fillers": any(counts.n_fillers for counts in one.counts.values()),
        "has_anchors": any(counts.n_anchors for counts in one.counts.values()),
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
