"""Materials: the list of sets, and one set with its paradigms, pairs and report."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from experiments.models import Experiment, MaterialSet, MinimalPair, Sentence
from experiments.pages.paging import page_of
from experiments.pages.sure import ask, is_sure

PER_PAGE = 50


@login_required
def materials(request: HttpRequest) -> HttpResponse:
    """Sets the user owns or uses, by name."""
    sets = list(MaterialSet.objects.visible_to(request.user).select_related("owner"))
    for found in sets:
        found.counts = found.report.get("counts") or counted(found)
    return render(request, "experiments/materials_list.html", {"section": "materials", "sets": sets})


def counted(material_set: MaterialSet) -> dict[str, int]:
    """Counts of a set that came without an import report, such as a generated one."""
    return {
        "sentences": material_set.sentences.count(),
        "items": material_set.items.count(),
        "pairs": material_set.pairs.count(),
        "pairs_discarded": material_set.pairs.filter(discard=True).count(),
        "paradigms": material_set.paradigms.count(),
        "phenomena": material_set.phenomena.count(),
    }


@login_required
def material_set(request: HttpRequest, slug: str) -> HttpResponse:
    """One set: counts, paradigms, findings, and its pairs or sentences, searched and in pages."""
    found = get_object_or_404(MaterialSet.objects.visible_to(request.user), slug=slug)
    counts = found.report.get("counts") or counted(found)
    wanted, paradigm = request.GET.get("q", "").strip(), request.GET.get("paradigm", "")
    as_pairs = bool(counts["pairs"]) and request.GET.get("show") != "sentences"
    rows = (pairs_of if as_pairs else sentences_of)(found, wanted, paradigm)
    keep = urlencode({name: value for name, value in request.GET.items() if name != "page" and value})
    context = {
        "section": "materials",
        "set": found,
        "counts": counts,
        "paradigms": found.paradigms.select_related("phenomenon").annotate(n_pairs=Count("pairs")),
        "as_pairs": as_pairs,
        "page_of": page_of(request, rows, most=PER_PAGE),
        "keep": keep,
        "wanted": wanted,
        "paradigm": paradigm,
        "studies": Experiment.objects.visible_to(request.user).filter(materials=found),
        "may_delete": may_delete(request.user, found),
    }
    return render(request, "experiments/materials_set.html", context)


def pairs_of(found: MaterialSet, wanted: str, paradigm: str) -> QuerySet[MinimalPair]:
    """Pairs with a text or an id that contains what is wanted."""
    rows = found.pairs.select_related("good", "bad", "paradigm")
    if paradigm:
        rows = rows.filter(paradigm__name=paradigm)
    if wanted:
        texts = Q(good__text__icontains=wanted) | Q(bad__text__icontains=wanted)
        rows = rows.filter(texts | Q(key__icontains=wanted))
    return rows


def sentences_of(found: MaterialSet, wanted: str, paradigm: str) -> QuerySet[Sentence]:
    """Sentences with a text or an id that contains what is wanted."""
    rows = found.sentences.select_related("item__paradigm")
    if paradigm:
        rows = rows.filter(item__paradigm__name=paradigm)
    if wanted:
        rows = rows.filter(Q(text__icontains=wanted) | Q(key__icontains=wanted))
    return rows


def may_delete(user, found: MaterialSet) -> bool:
    """Whether the user owns the set and no study uses it."""
    return (user.is_staff or found.owner_id == user.pk) and not found.experiments.exists()


@login_required
@require_POST
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a set that no study uses."""
    found = get_object_or_404(MaterialSet.objects.visible_to(request.user), slug=slug)
    if not may_delete(request.user, found):
        messages.error(request, "A study uses these materials, or they are not yours: they stay.")
        return redirect("material-set", found.slug)
    if not is_sure(request):
        return ask(
            request,
            f"Delete {found.name}?",
            "Its sentences and pairs are deleted for good, with every score that a model gave them here.",
            yes="Delete them",
            no="Keep them",
            back=reverse("material-set", args=[found.slug]),
            section="materials",
        )
    found.delete()
    messages.success(request, f"{found.name} is deleted.")
    return redirect("materials")
