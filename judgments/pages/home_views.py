"""The start page: studies as cards for a researcher, what this is for everybody else."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from experiments.models import Experiment, MaterialSet
from judgments.cards import cards

DEMO = "demo"


def home(request: HttpRequest) -> HttpResponse:
    """Studies as cards, or the door."""
    if not request.user.is_authenticated:
        demo = Experiment.objects.filter(
            slug=DEMO, status__in=Experiment.Status.taking_participants()
        ).first()
        return render(request, "experiments/start.html", {"demo": demo})
    has_materials = MaterialSet.objects.visible_to(request.user).exists()
    context = {"section": "studies", "cards": cards(request.user), "has_materials": has_materials}
    return render(request, "judgments/home.html", context)
