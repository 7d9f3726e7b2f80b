"""Addresses of the pages of paradigms, under ``/paradigms/``."""

from django.urls import path

from experiments.pages.paradigms import editor, library, pair_sets, validation

urlpatterns = [
    path("", library.paradigms, name="paradigms"),
    path("built-in/<slug:language>/<slug:uid>/", library.built_in_page, name="paradigm"),
    path("own/<int:pk>/", library.own_page, name="own-paradigm"),
    path("own/<int:pk>/versions/<int:number>/", library.version, name="paradigm-version"),
    path("own/<int:pk>/share/", library.share_paradigm, name="paradigm-share"),
    path("own/<int:pk>/delete/", library.delete, name="paradigm-delete"),
    path("own/<int:pk>/edit/", editor.edit, name="paradigm-edit"),
    path("new/", editor.new, name="paradigm-new"),
    path("check/", editor.check_text, name="paradigm-check"),
    path("preview/", pair_sets.preview_page, name="paradigm-preview"),
    path("sets/", pair_sets.pair_sets, name="pair-sets"),
    path("sets/<int:pk>/", pair_sets.pair_set, name="pair-set"),
    path("sets/<int:pk>/pairs.jsonl", pair_sets.as_jsonl, name="pair-set-jsonl"),
    path("sets/<int:pk>/pairs/<int:pair>/", pair_sets.pair_page, name="pair-edit"),
    path("sets/<int:pk>/share/", pair_sets.share_set, name="pair-set-share"),
    path("sets/<int:pk>/materials/", pair_sets.materials, name="pair-set-materials"),
    path("sets/<int:pk>/delete/", pair_sets.delete, name="pair-set-delete"),
    path("sets/<int:pk>/validation/", validation.validation, name="pair-set-validation"),
]
