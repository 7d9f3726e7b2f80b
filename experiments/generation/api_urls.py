"""URLs of the generator's API."""

from django.urls import path

from experiments.generation import api_library_views, api_views

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
    path(
        "own-paradigms/<int:pk>/sharing/",
        api_library_views.SharedParadigmView.as_view(),
        name="api-paradigm-sharing",
    ),
    path("pair-sets/<int:pk>/sharing/", api_library_views.SharingView.as_view(), name="api-pair-set-sharing"),
    path(
        "pair-sets/<int:pk>/materials/",
        api_library_views.PairSetMaterialsView.as_view(),
        name="api-pair-set-materials",
    ),
    path(
        "pair-sets/<int:pk>/pairs/<int:pair>/",
        api_library_views.DrawnPairView.as_view(),
        name="api-drawn-pair",
    ),
    path("word-lists/", api_library_views.WordListViews.as_view(), name="api-word-lists"),
    path("word-lists/<int:pk>/", api_library_views.WordListView.as_view(), name="api-word-list"),
    path(
        "word-lists/<int:pk>/sharing/", api_library_views.SharedWordsView.as_view(), name="api-words-sharing"
    ),
]
