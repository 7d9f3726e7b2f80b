"""Materials: the list of sets, and one set with its paradigms, pairs and report."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from analysis.text import natural_order, plural
from experiments.accounts.history import deleted_values, record
from experiments.models import Experiment, MaterialSet, MinimalPair, Sentence
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import ask, is_sure, paginate

PER_PAGE = 50


@login_required
def materials(request: AuthenticatedRequest) -> HttpResponse:
    """List the sets that the user owns or uses, by name."""
    rows = MaterialSet.objects.visible_to(request.user).select_related("owner")
    sets = [(row, row.report.get("counts") or count_rows(row)) for row in rows]
    return render(request, "experiments/materials_list.html", {"section": "materials", "sets": sets})


def count_rows(material_set: MaterialSet) -> dict[str, int]:
    """Count the rows of a set without an import report, such as a generated one."""
    return {
        "sentences": material_set.sentences.count(),
        "fillers": material_set.sentences.filter(is_filler=True).count(),
        "items": material_set.items.count(),
        "pairs": material_set.pairs.count(),
        "pairs_discarded": material_set.pairs.filter(discard=True).count(),
        "paradigms": material_set.paradigms.count(),
        "phenomena": material_set.phenomena.count(),
    }


@login_required
def material_set(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """One set: counts, paradigms, findings, and its pairs or sentences, searched and in pages."""
    row = get_object_or_404(MaterialSet.objects.visible_to(request.user), slug=slug)
    counts = row.report.get("counts") or count_rows(row)
    query, paradigm = request.GET.get("q", "").strip(), request.GET.get("paradigm", "")
    as_pairs = bool(counts["pairs"]) and request.GET.get("show") != "sentences"
    rows = (find_pairs if as_pairs else find_sentences)(row, query, paradigm)
    keep = urlencode({name: str(value) for name, value in request.GET.items() if name != "page" and value})
    context = {
        "section": "materials",
        "set": row,
        "counts": counts,
        "paradigms": sorted(
            row.paradigms.select_related("phenomenon").annotate(n_pairs=Count("pairs")),
            key=lambda paradigm: natural_order(paradigm.name),
        ),
        "as_pairs": as_pairs,
        "page_of": paginate(request, rows, most=PER_PAGE),
        "keep": keep,
        "query": query,
        "paradigm": paradigm,
        "studies": Experiment.objects.visible_to(request.user).filter(materials=row),
        "may_delete": may_delete(request.user, row),
    }
    return render(request, "experiments/materials_set.html", context)


def find_pairs(row: MaterialSet, query: str, paradigm: str) -> QuerySet[MinimalPair]:
    """Return pairs whose text or id contains the query."""
    rows = row.pairs.select_related("good", "bad", "paradigm")
    if paradigm:
        rows = rows.filter(paradigm__name=paradigm)
    if query:
        texts = Q(good__text__icontains=query) | Q(bad__text__icontains=query)
        rows = rows.filter(texts | Q(key__icontains=query))
    return rows


def find_sentences(row: MaterialSet, query: str, paradigm: str) -> QuerySet[Sentence]:
    """Return sentences whose text or id contains the query."""
    rows = row.sentences.select_related("item__paradigm")
    if paradigm:
        rows = rows.filter(item__paradigm__name=paradigm)
    if query:
        rows = rows.filter(Q(text__icontains=query) | Q(key__icontains=query))
    return rows


def may_delete(user: User, row: MaterialSet) -> bool:
    """Whether the user owns the set and no study uses it."""
    return (user.is_staff or row.owner_id == user.pk) and not row.experiments.exists()


@login_required
@require_POST
def delete(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Remove a set that no study uses."""
    row = get_object_or_404(MaterialSet.objects.visible_to(request.user), slug=slug)
    if not may_delete(request.user, row):
        messages.error(request, "Not deleted: a study uses these materials, or they are not yours.")
        return redirect("material-set", row.slug)
    if not is_sure(request):
        return ask(
            request,
            f"Delete {row.name}?",
            "Its sentences and pairs are deleted permanently, with every model score stored for them.",
            yes="Delete them",
            no="Keep them",
            back=reverse("material-set", args=[row.slug]),
            section="materials",
        )
    delete_set(row, by=request.user)
    messages.success(request, f"{row.name} is deleted.")
    return redirect("materials")


@transaction.atomic
def delete_set(row: MaterialSet, *, by: User) -> None:
    """Delete a set with its contents, which the history names."""
    values = deleted_values(row.name, _describe_contents(row))
    record(row.owner or by, "materials deleted", **values)
    row.delete()


def _describe_contents(row: MaterialSet) -> str:
    """Content that is deleted with a set, for the history."""
    counts = [
        plural(row.sentences.count(), "sentence"),
        plural(row.pairs.count(), "pair"),
        *(f"scores of {name} ({method})" for name, method in row.scoring_runs.values_list("name", "method")),
    ]
    return f"{', '.join(counts)}; checksum {row.checksum}"
