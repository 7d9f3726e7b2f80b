"""The start page: studies for a researcher, what this is for everybody else; and a new study."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from experiments.models import Experiment, MaterialSet
from experiments.pages.access import get_study
from experiments.pages.forms import NewStudyForm
from experiments.studies import copy_study, create_study
from judgments.tasks.registry import tasks

DEMO = "demo"
COUNT_SECONDS = 60


def home(request: HttpRequest) -> HttpResponse:
    """Studies as cards, or the door."""
    if not request.user.is_authenticated:
        demo = Experiment.objects.filter(
            slug=DEMO, status__in=Experiment.Status.taking_participants()
        ).first()
        return render(request, "experiments/start.html", {"demo": demo})
    has_materials = MaterialSet.objects.visible_to(request.user).exists()
    context = {"section": "studies", "cards": cards(request.user), "has_materials": has_materials}
    return render(request, "experiments/home.html", context)


def cards(user) -> list[Experiment]:
    """Studies of the user with what a card shows: task, people, judgments, last activity."""
    studies = Experiment.objects.visible_to(user).annotate(
        n_complete=Count("sessions", filter=Q(sessions__status="complete", sessions__is_test=False)),
        seen_at=Max("sessions__last_seen_at"),
        finished_at=Max("sessions__completed_at"),
    )
    labels = {name: task.label for name, task in tasks().items()}
    found = list(studies)
    for study in found:
        study.task_label = labels.get(study.task, study.task)
        study.active_at = max((at for at in (study.seen_at, study.finished_at) if at), default=None)
        study.n_judgments = count_judgments(study)
    return found


def count_judgments(study: Experiment) -> int:
    """Answers of a study; counted again when somebody was active, at most once a minute otherwise."""
    seen = study.active_at.timestamp() if study.active_at else 0
    key = f"judgments-{study.pk}-{study.n_complete}-{seen}"
    return cache.get_or_set(key, lambda: stored_judgments(study), COUNT_SECONDS)


def stored_judgments(study: Experiment) -> int:
    """Answers in the database, previews left out."""
    own = Experiment.objects.filter(pk=study.pk, sessions__is_test=False)
    return own.aggregate(n=Count("sessions__trials__judgment"))["n"]


@login_required
def create(request: HttpRequest) -> HttpResponse:
    """A new study: four questions, then its settings."""
    form = NewStudyForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        study = create_study(request.user, **form.cleaned_data)
        return redirect("study-settings", study.slug)
    return render(request, "experiments/study_create.html", {"section": "studies", "form": form})


@login_required
@require_POST
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """Another draft of the same kind, for whoever may read this study."""
    study = copy_study(get_study(request.user, slug), request.user)
    messages.success(
        request,
        "This is the copy. It has no people, no codes and its own address; everything can be changed.",
    )
    return redirect("study-settings", study.slug)
