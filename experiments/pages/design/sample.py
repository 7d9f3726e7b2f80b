"""Sample of a study: its target, a proposed split of the items, and items left out.

What the checks say of a stored material set.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.text import plural
from experiments.lists.build import get_design
from experiments.materials.collection import Materials, pair_frame, sentence_frame
from experiments.materials.findings import LEFT_OUT_FOR
from experiments.materials.leaving_out import concerned_items
from experiments.models import Design, Experiment, MaterialSet
from experiments.pages.access import get_locked_study
from experiments.pages.design.forms import DesignForm, TargetForm
from experiments.pages.design.page import conflict_context, design_context
from experiments.pages.editing.conflicts import compare, with_choices
from experiments.studies.history import design_values, record_changes, study_values
from experiments.studies.proposals import Proposal, proposals, split_design


def items_concerned(material_set: MaterialSet) -> dict[str, list[str]]:
    """Return the items of a stored set that each check names; its stored report lists only the first."""
    return concerned_items(stored_materials(material_set))


def stored_materials(material_set: MaterialSet) -> Materials:
    """Return a stored set as the frames that checks read."""
    sentence_names = (
        "key",
        "item__key",
        "condition",
        "item__paradigm__name",
        "text",
        "expected",
        "attributes",
    )
    sentences = list(material_set.sentences.order_by("pk").values_list(*sentence_names))
    pair_names = ("key", "good__key", "bad__key", "paradigm__name")
    pairs = list(material_set.pairs.filter(discard=False).order_by("pk").values_list(*pair_names))
    return Materials(
        material_set.file_format or "table",
        sentence_frame(
            sentence_id=[row[0] for row in sentences],
            item=[row[1] for row in sentences],
            condition=[row[2] for row in sentences],
            paradigm=[row[3] or "" for row in sentences],
            text=[row[4] for row in sentences],
            expected=[row[5] for row in sentences],
            attributes=[row[6] for row in sentences],
        ),
        pair_frame(
            pair_id=[row[0] for row in pairs],
            good_id=[row[1] for row in pairs],
            bad_id=[row[2] for row in pairs],
            paradigm=[row[3] or "" for row in pairs],
        ),
    )


@login_required
@require_POST
@transaction.atomic
def target(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the target and the limit of participants; 409 where that would overwrite another editor's."""
    study = get_locked_study(request.user, slug)
    current = [TargetForm(instance=study)]
    data = with_choices(request.POST, current)
    stored = Experiment.objects.get(pk=study.pk)
    edits = compare(data, current=current, submitted=[TargetForm(data, instance=stored)])
    form = TargetForm(edits.data if edits.is_stale else data, instance=stored)
    if not edits.is_stale and form.is_valid():
        if record_changes(
            study, request.user, "target changed", before=study_values(study), after=study_values(stored)
        ):
            form.save()
            messages.success(request, "The target is saved.")
        return redirect("study-design", slug)
    design_form = DesignForm(instance=get_design(study), user=request.user)
    context = design_context(request, study, design_form, target_form=form)
    if not edits.is_stale:
        return render(request, "experiments/design.html", context)
    context |= conflict_context(request, study, edits, form_id="target")
    return render(request, "experiments/design.html", context, status=409)


@login_required
@require_POST
@transaction.atomic
def use_split(request: HttpRequest, slug: str) -> HttpResponse:
    """Store a proposed split of the items over lists."""
    study = get_locked_study(request.user, slug)
    offers = [offer for offer in proposals(study) if str(offer.n_lists) == request.POST.get("n_lists")]
    if not offers:
        raise Http404("no such proposal")
    design = store_split(study, offers[0], by=request.user)
    messages.success(request, f"All items are split over {design.n_lists} lists.")
    return redirect("study-design", slug)


def store_split(study: Experiment, offer: Proposal, *, by: Any) -> Design:
    """Split the items of a locked study as proposed."""
    design = get_design(study)
    before = design_values(design)
    split_design(design, offer)
    design.save()
    record_changes(study, by, "design changed", before=before, after=design_values(design))
    return design


@login_required
@require_POST
@transaction.atomic
def leave_out(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave the items out that a check of the materials or of the filler set names, or show them again."""
    study = get_locked_study(request.user, slug)
    code, of_fillers = request.POST.get("check", ""), request.POST.get("of") == "fillers"
    is_shown = "again" in request.POST
    n_items = leave_items_out(study, code, of_fillers=of_fillers, is_shown=is_shown, by=request.user)
    if n_items is None:
        raise Http404("no such check")
    noun, change = "filler item" if of_fillers else "item", "shown again" if is_shown else "left out"
    messages.success(request, f"{plural(n_items, noun)} {change}: {LEFT_OUT_FOR[code]}.")
    return redirect("study-launch", slug)


def leave_items_out(study: Experiment, code: str, *, of_fillers: bool, is_shown: bool, by: Any) -> int | None:
    """Leave the items out that a check names, or show them again; return their number.

    The study is locked. None where there is no such check, or no set.
    """
    design = get_design(study)
    materials = design.filler_materials if of_fillers else study.materials
    if code not in LEFT_OUT_FOR or materials is None:
        return None
    before = design_values(design)
    items = design.fillers_left_out if of_fillers else design.left_out_items(materials)
    if is_shown:
        n_items, change = len(items.pop(code, [])), "shown again"
        items = {name: keys for name, keys in items.items() if keys}
    else:
        concerned = items_concerned(materials)
        items[code] = concerned.get(code, [])
        all_items = {key for keys in items.values() for key in keys}
        # A check whose items are all left out for other reasons has nothing left to ask.
        items |= {name: [] for name, keys in concerned.items() if name not in items and all_items >= {*keys}}
        n_items, change = len(items[code]), "left out"
    design.leave_out(items, materials=materials, of_fillers=of_fillers)
    design.save()
    record_changes(study, by, f"items {change}", before=before, after=design_values(design), check=code)
    return n_items
