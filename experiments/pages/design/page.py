"""The design page: lists with the proof of their balance, what the target takes, and one list in full."""

from itertools import product
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from analysis.text import natural_order
from experiments.design.trials import PlannedTrial
from experiments.lists.balance_report import RoundProof, compute_coverage, proofs
from experiments.lists.build import get_design
from experiments.lists.rounds import (
    list_rounds,
)
from experiments.models import Design, Experiment, MinimalPair, Sentence
from experiments.pages.access import get_locked_study, get_study, may_edit
from experiments.pages.design.forms import DesignForm, RoundForm, TargetForm
from experiments.pages.editing.conflicts import (
    Edits,
    attribute_conflicts,
    compare,
    form_version,
    keep_refused,
    with_choices,
)
from experiments.pages.settings import next_version
from experiments.studies.history import design_values, record_changes
from experiments.studies.proposals import proposals
from experiments.studies.readiness import summarize_lists
from experiments.studies.targets import compute_requirement, counted_noun, target_noun, uneven_reasons
from experiments.tasks.registry import shown_task

SHOWN_TRIALS = 300


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the design and the lists it builds; store another one."""
    if request.method == "POST":
        return _save_design(request, slug)
    study = get_study(request.user, slug)
    form = DesignForm(instance=get_design(study), user=request.user)
    return render(request, "experiments/design.html", design_context(request, study, form))


@transaction.atomic
def _save_design(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the design; a page with status 409 where that would overwrite another editor's change."""
    study = get_locked_study(request.user, slug)
    current = [DesignForm(instance=get_design(study), user=request.user)]
    data = with_choices(request.POST, current)
    sent = DesignForm(data, instance=get_design(study), user=request.user)
    edits = compare(data, current=current, submitted=[sent])
    if edits.is_stale:
        form = DesignForm(edits.data, instance=get_design(study), user=request.user)
        conflict = conflict_context(request, study, edits, form_id="design")
        context = design_context(request, study, form) | conflict
        return render(request, "experiments/design.html", context, status=409)
    form = DesignForm(data, instance=get_design(study), user=request.user)
    before = design_values(form.instance)
    if form.is_valid():
        if not save_design(study, form, before=before, user=request.user):
            messages.success(request, "Nothing was changed, so nothing was saved.")
            return redirect("study-design", slug)
        if summarize_lists(study).problem:
            messages.error(request, "Saved, but no lists can be built from it; see the reason below.")
        else:
            messages.success(request, "Saved. The lists below are built from it.")
        return redirect("study-design", slug)
    return render(request, "experiments/design.html", design_context(request, study, form))


def save_design(
    study: Experiment, form: DesignForm, *, before: dict[str, Any], user: User | AnonymousUser
) -> bool:
    """Store the design of a valid form and record what changed; return whether anything did."""
    is_changed = record_changes(
        study, user, "design changed", before=before, after=design_values(form.instance)
    )
    if is_changed:
        form.save()
    return is_changed


def conflict_context(
    request: HttpRequest, study: Experiment, edits: Edits, *, form_id: str
) -> dict[str, Any]:
    """Return what the conflict's panel shows; the texts that were not saved are kept in the history."""
    conflicts = attribute_conflicts(edits.conflicts, study, request.POST)
    keep_refused(study, request.user, conflicts)
    return {"edits": edits, "conflicts": conflicts, "form_id": form_id}


def design_context(
    request: HttpRequest,
    study: Experiment,
    form: DesignForm,
    *,
    invalid: RoundForm | None = None,
    target_form: TargetForm | None = None,
) -> dict[str, Any]:
    """Return the context of the design page; ``invalid`` is the form of a round with errors."""
    further = list_rounds(get_design(study), study)[1:]
    round_forms = [
        invalid if invalid and invalid.round == later else RoundForm(study=study, design_round=later)
        for later in further
    ]
    return {
        "study": study,
        "page": "design",
        "form": form,
        "target_form": target_form or TargetForm(instance=study),
        "target_version": form_version(TargetForm(instance=study)),
        "round_forms": round_forms,
        "wrong_round": invalid.round.number if invalid else None,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "may_start_round": study.status not in {Experiment.Status.DRAFT, Experiment.Status.CLOSED},
        "next_version": next_version(study),
        "version": form_version(DesignForm(instance=get_design(study), user=request.user)),
        "rounds_version": form_version(rounds=get_design(study).rounds),
        **preview(study, request.GET.get("list", "1")),
    }


def preview(study: Experiment, chosen: str) -> dict[str, Any]:
    """Return the lists of the stored design, their balance and one list in full; or why there are none."""
    try:
        rounds = proofs(study)
        lists = {label: trials for proof in rounds for label, trials in proof.lists.items()}
        label = chosen if chosen in lists else next(iter(lists))
        trials = shown_trials(study, list(lists[label][:SHOWN_TRIALS]))
    except BadInput as error:
        return {"problem": str(error)[:1].upper() + str(error)[1:]}
    requirements = [compute_requirement(study, proof) for proof in rounds]
    return {
        "rounds": [build_table(proof, factor_levels(study)) for proof in rounds],
        "requirements": requirements,
        "uneven": [reason for requirement in requirements for reason in uneven_reasons(study, requirement)],
        "target_noun": target_noun(study),
        "counted_noun": counted_noun(study),
        "coverage": compute_coverage(study, rounds),
        "proposals": proposals(study),
        "has_sides": shown_task(study.task).shows == "pair",
        "chosen": label,
        "has_own_orders": get_design(study).order == Design.Order.PARTICIPANT,
        "trials": trials,
        "n_hidden": max(0, len(lists[label]) - SHOWN_TRIALS),
    }


def factor_levels(study: Experiment) -> list[list[str]]:
    """Levels of each factor of the materials in the researcher's order; empty without a factorial design."""
    return list(study.materials.levels.values()) if study.materials else []


def build_table(proof: RoundProof, levels: list[list[str]]) -> dict[str, Any]:
    """Return the balance of one round: claims, and a row of counts for each list.

    Conditions of a factorial design follow the order of its levels, others the natural order of their names.
    """
    cells = {":".join(cell): place for place, cell in enumerate(product(*levels))}
    names = sorted(
        {name for counts in proof.counts.values() for name in counts.conditions},
        key=lambda name: (cells.get(name, len(cells)), natural_order(name)),
    )
    conditions = names if len(names) > 1 else []
    return {
        "round": proof.round,
        "claims": proof.claims,
        "conditions": conditions,
        "rows": [
            (label, counts, [counts.conditions.get(name, 0) for name in conditions])
            for label, counts in proof.counts.items()
        ],
        "has_fillers": any(counts.n_fillers for counts in proof.counts.values()),
        "has_anchors": any(counts.n_anchors for counts in proof.counts.values()),
    }


def shown_trials(study: Experiment, trials: list[PlannedTrial]) -> list[dict[str, Any]]:
    """Return the trials of one list with their sentences, in presentation order."""
    texts = planned_texts(study, trials)
    entries = {"practice": study.practice, "anchor": study.anchors, "catch": study.catch_trials}
    rows = []
    for trial in trials:
        sentences = (
            _entry_texts(entries[trial.kind][int(trial.key)])
            if trial.kind in entries
            else [text for key in trial.key.split(",") for text in texts[int(key)]]
        )
        if trial.expected_first is False:
            sentences = sentences[::-1]
        rows.append({"trial": trial, "sentences": sentences})
    return rows


def planned_texts(study: Experiment, trials: list[PlannedTrial]) -> dict[int, list[str]]:
    """Return sentences of planned targets and fillers by row id; of a pair, the expected member first."""
    planned_keys = [trial.key for trial in trials if trial.kind in {"target", "filler"}]
    keys = {int(key) for keys in planned_keys for key in keys.split(",")}  # a set lists all its sentences
    if shown_task(study.task).shows == "pair":
        pairs = MinimalPair.objects.filter(pk__in=keys).select_related("good", "bad")
        return {pair.pk: [pair.good.text, pair.bad.text] for pair in pairs}
    return {sentence.pk: [sentence.text] for sentence in Sentence.objects.filter(pk__in=keys)}


def _entry_texts(entry: dict[str, Any]) -> list[str]:
    """Return the sentences of a practice, anchor or catch trial, the right one first."""
    if "options" not in entry:
        return [entry["text"]]
    texts = [option["text"] for option in entry["options"]]
    return texts[::-1] if entry.get("correct") == 1 else texts
