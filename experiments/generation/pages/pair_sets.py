"""Sets of drawn pairs: preview, draw, read, edit by hand, and make materials of them."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.gold.writers import jsonl_bytes
from experiments.generation.pages.library import ShareForm, another_seed, count_check, read_seed, share_row
from experiments.generation.stored.library import MAX_SEED, OWN, may_change, owns, select_paradigms
from experiments.generation.stored.pair_sets import (
    MAX_EACH,
    MAX_PAIRS,
    MAX_REASON,
    MAX_TEXT,
    create_pair_set,
    current_rows,
    delete_pair_set,
    edit_pair,
    make_materials,
    preview,
    restore_pair,
    strike_pair,
)
from experiments.models import Experiment, GeneratedPair, Job, OwnParadigm, PairSet
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import ask, is_sure, paginate

PER_PAGE = 50
EXAMPLES = 5
MOST_PREVIEWED = 70  # paradigms on one page


class DrawForm(forms.Form):
    """Number of pairs to draw."""

    name = forms.CharField(max_length=150, help_text="Of the set, for you and your team.")
    n = forms.IntegerField(
        label="Pairs of each paradigm",
        min_value=1,
        max_value=MAX_EACH,
        initial=1000,
        help_text=f"A set has at most {MAX_PAIRS:,} pairs.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        initial=0,
        help_text="The same seed gives the same pairs; the first 100 of 1,000 are those of a set of 100.",
    )


def default_name(user: User, addresses: list[str]) -> str:
    """Return a name for a set of some paradigms: that of a single one, or their number."""
    if len(addresses) != 1:
        return f"{len(addresses)} paradigms"
    kind, _, name = addresses[0].partition(":")
    if kind == OWN and name.isdecimal():
        row = OwnParadigm.objects.visible_to(user).filter(pk=int(name)).first()
        return row.uid if row else "Pairs"
    return name


@login_required
def preview_page(request: AuthenticatedRequest) -> HttpResponse:
    """The first pairs of the chosen paradigms, and the form that draws a set; POST draws it."""
    data = request.POST if request.method == "POST" else request.GET
    addresses = list(dict.fromkeys(data.getlist("paradigm")))[:MOST_PREVIEWED]
    seed = read_seed(request)
    form = DrawForm(
        request.POST or None, initial={"seed": seed, "name": default_name(request.user, addresses)}
    )
    if request.method == "POST" and form.is_valid():
        try:
            row = create_pair_set(request.user, addresses=addresses, **form.cleaned_data)
        except BadInput as error:
            form.add_error(None, capfirst(str(error)))
        else:
            return redirect("pair-set", row.pk)
    context: dict[str, Any] = {
        "section": "materials",
        "form": form,
        "addresses": addresses,
        "seed": seed,
        "another_seed": another_seed(),
        "keep": urlencode([("paradigm", address) for address in addresses]),
    }
    try:
        count_check(request.user)
        context["rows"] = preview(select_paradigms(request.user, addresses), n=EXAMPLES, seed=seed)
    except BadInput as error:
        context["refused"] = capfirst(str(error))
    status = 422 if form.errors else 200
    return render(request, "experiments/paradigm_preview.html", context, status=status)


@login_required
def pair_sets(request: AuthenticatedRequest) -> HttpResponse:
    """The sets that the user drew or shares, newest first."""
    rows = PairSet.objects.visible_to(request.user).select_related(
        "owner", "materials", "lab", "study", "job"
    )
    context = {"section": "materials", "page_of": paginate(request, rows, most=PER_PAGE)}
    return render(request, "experiments/pair_sets.html", context)


def get_pair_set(user: User, pk: int, *, editing: bool = False) -> PairSet:
    """Return a set: 404 for strangers, 403 for viewers who would change it."""
    rows = PairSet.objects.visible_to(user).select_related("owner", "materials", "lab", "study", "job")
    row = get_object_or_404(rows, pk=pk)
    if editing and not may_change(user, row):
        raise PermissionDenied("Viewers do not change a set.")
    return row


SHOW = {
    "": "all pairs",
    "changed": "changed by hand",
    "struck": "struck",
}


@login_required
def pair_set(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """One set: its pairs, searched and in pages, with what was changed by hand."""
    row = get_pair_set(request.user, pk)
    query, paradigm = request.GET.get("q", "").strip(), request.GET.get("paradigm", "")
    show = request.GET.get("show", "")
    pairs = row.pairs.annotate(n_edits=Count("edits"))
    if paradigm:
        pairs = pairs.filter(paradigm=paradigm)
    if query:
        pairs = pairs.filter(Q(good__icontains=query) | Q(bad__icontains=query) | Q(key__icontains=query))
    if show == "struck":
        pairs = pairs.filter(is_struck=True)
    elif show == "changed":
        pairs = pairs.filter(n_edits__gt=0)
    counts = row.pairs.aggregate(pairs=Count("pk"), struck=Count("pk", filter=Q(is_struck=True)))
    context = {
        "section": "materials",
        "set": row,
        "counts": counts,
        "n_changed": row.pairs.filter(edits__isnull=False).distinct().count(),
        "n_paradigms": len(row.recipe),
        "page_of": paginate(request, pairs.order_by("pk"), most=PER_PAGE),
        "keep": urlencode(
            {name: str(value) for name, value in request.GET.items() if name != "page" and value}
        ),
        "query": query,
        "paradigm": paradigm,
        "show": show,
        "shows": SHOW.items(),
        "may_edit": may_change(request.user, row) and row.materials is None,
        "may_change": may_change(request.user, row),
        "owns": owns(request.user, row),
        "share_form": ShareForm(user=request.user, row=row),
        "materials_form": MaterialsForm(initial={"name": row.name}),
        "validations": Experiment.objects.visible_to(request.user).filter(validated_pair_sets=row),
    }
    return render(request, "experiments/pair_set.html", context)


class MaterialsForm(forms.Form):
    """The name of the materials."""

    name = forms.CharField(max_length=200, label="Name of the materials")
    licence = forms.CharField(
        max_length=200, required=False, help_text="Of the sentences, such as CC BY 4.0."
    )


@login_required
@require_POST
def materials(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Make materials of the set."""
    row = get_pair_set(request.user, pk, editing=True)
    form = MaterialsForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Not made: the materials need a name of at most 200 characters.")
        return redirect("pair-set", pk)
    try:
        material_set = make_materials(row, request.user, **form.cleaned_data)
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
        return redirect("pair-set", pk)
    if isinstance(material_set, Job):
        return redirect("pair-set", pk)
    messages.success(request, f"{material_set.name} is there. Its pairs do not change any more.")
    return redirect("material-set", material_set.slug)


class PairForm(forms.Form):
    """The two sentences of a pair."""

    good = forms.CharField(label="Acceptable", max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 2}))
    bad = forms.CharField(label="Unacceptable", max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 2}))
    reason = forms.CharField(
        max_length=MAX_REASON, required=False, help_text="Kept with the change, and exported with the pair."
    )


@login_required
def pair_page(request: AuthenticatedRequest, pk: int, pair: int) -> HttpResponse:
    """One pair: as it was drawn, what was changed by whom, and the form that changes it."""
    row = get_pair_set(request.user, pk, editing=request.method == "POST")
    stored_pair = get_object_or_404(row.pairs, pk=pair)
    form = PairForm(request.POST or None, initial={"good": stored_pair.good, "bad": stored_pair.bad})
    if request.method == "POST":
        try:
            if (is_changed := _apply_button(request, stored_pair, form)) is not None:
                outcome = "is changed; the pair as drawn is kept" if is_changed else "reads so already"
                messages.success(request, f"{stored_pair.key} {outcome}.")
                return redirect(f"{reverse('pair-set', args=[pk])}?{urlencode({'q': stored_pair.key})}#rows")
        except BadInput as error:
            form.add_error(None, capfirst(str(error)))
    context = {
        "section": "materials",
        "set": row,
        "pair": stored_pair,
        "form": form,
        "edits": stored_pair.edits.select_related("user"),
        "may_edit": may_change(request.user, row) and row.materials is None,
        "fellow": {
            "before": row.pairs.filter(pk__lt=stored_pair.pk).order_by("-pk").first(),
            "after": row.pairs.filter(pk__gt=stored_pair.pk).order_by("pk").first(),
        },
    }
    return render(request, "experiments/pair_edit.html", context, status=422 if form.errors else 200)


def _apply_button(request: AuthenticatedRequest, pair: GeneratedPair, form: PairForm) -> bool | None:
    """Do what the pressed button asks; return whether it changed the pair, None for a form with errors."""
    reason = request.POST.get("reason", "")
    if "strike" in request.POST:
        return strike_pair(pair, request.user, reason=reason)
    if "restore" in request.POST:
        return restore_pair(pair, request.user, reason=reason)
    if "as_drawn" in request.POST:
        sentences_drawn = pair.fields
        return edit_pair(
            pair,
            request.user,
            good=sentences_drawn["sentence_good"],
            bad=sentences_drawn["sentence_bad"],
            reason=reason,
        )
    return edit_pair(pair, request.user, **form.cleaned_data) if form.is_valid() else None


@login_required
def as_jsonl(request: AuthenticatedRequest, pk: int) -> StreamingHttpResponse:
    """The pairs as they read now, as JSON lines with BLiMP's fields and the trace of changes."""
    row = get_pair_set(request.user, pk)

    def lines() -> Iterator[bytes]:
        for fields in current_rows(row):
            yield jsonl_bytes([fields])

    answer = StreamingHttpResponse(lines(), content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="pairs-{row.pk}.jsonl"'
    return answer


@login_required
@require_POST
def share_set(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Share a set with a lab or with the team of a study."""
    share_row(request, get_pair_set(request.user, pk))
    return redirect("pair-set", pk)


@login_required
@require_POST
def delete(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Delete a set; materials that were made of it stay."""
    row = get_pair_set(request.user, pk)
    if not owns(request.user, row):
        raise PermissionDenied("Only its owner deletes a set.")
    if not is_sure(request):
        return ask(
            request,
            f"Delete {row.name}?",
            "Its pairs and the history of their changes are deleted permanently. Materials made of it stay.",
            yes="Delete it",
            no="Keep it",
            back=reverse("pair-set", args=[row.pk]),
            section="materials",
        )
    delete_pair_set(row, request.user)
    messages.success(request, f"{row.name} is deleted.")
    return redirect("pair-sets")
