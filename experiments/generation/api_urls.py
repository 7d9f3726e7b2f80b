"""URLs of the generator's API."""

from django.urls import path

from experiments.generation import api_views

urlpatterns = [
    path("paradigms/", api_views.ParadigmsView.as_view(), name="api-paradigms"),
    path("paradigms/lint/", api_views.LintView.as_view(), name="api-paradigm-lint"),
    path("paradigms/generate/", api_views.GenerateView.as_view(), name="api-paradigm-generate"),
    path("paradigms/<slug:language>/<slug:uid>/", api_views.ParadigmView.as_view(), name="api-paradigm"),
    path("own-paradigms/", api_views.OwnParadigmsView.as_view(), name="api-own-paradigms"),
    path("own-paradigms/<int:pk>/", api_views.OwnParadigmView.as_view(), name="api-own-paradigm"),
    path("pair-sets/", api_views.PairSetsView.as_view(), name="api-pair-sets"),
    path("pair-sets/<int:pk>/", api_views.PairSetView.as_view(), name="api-pair-set"),
    path("pair-sets/<int:pk>/pairs/", api_views.DrawnPairsView.as_view(), name="api-drawn-pairs"),
]
