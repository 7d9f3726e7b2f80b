"""Addresses of the pages of paradigms, under ``/paradigms/``."""

from django.urls import path

from experiments.generation.pages import editor, lexicon, library, pair_sets, validation, word_lists

urlpatterns = [
    path("paradigms/", library.paradigms, name="paradigms"),
    path("paradigms/built-in/<slug:language>/<slug:uid>/", library.built_in_page, name="paradigm"),
    path("paradigms/own/<int:pk>/", library.own_page, name="own-paradigm"),
    path("paradigms/own/<int:pk>/versions/<int:number>/", library.version, name="paradigm-version"),
    path("paradigms/own/<int:pk>/share/", library.share_paradigm, name="paradigm-share"),
    path("paradigms/own/<int:pk>/delete/", library.delete, name="paradigm-delete"),
    path("paradigms/own/<int:pk>/edit/", editor.edit, name="paradigm-edit"),
    path("paradigms/new/", editor.new, name="paradigm-new"),
    path("paradigms/check/", editor.check_text, name="paradigm-check"),
    path("paradigms/preview/", pair_sets.preview_page, name="paradigm-preview"),
    path("paradigms/sets/", pair_sets.pair_sets, name="pair-sets"),
    path("paradigms/sets/<int:pk>/", pair_sets.pair_set, name="pair-set"),
    path("paradigms/sets/<int:pk>/pairs.jsonl", pair_sets.as_jsonl, name="pair-set-jsonl"),
    path("paradigms/sets/<int:pk>/pairs/<int:pair>/", pair_sets.pair_page, name="pair-edit"),
    path("paradigms/sets/<int:pk>/share/", pair_sets.share_set, name="pair-set-share"),
    path("paradigms/sets/<int:pk>/materials/", pair_sets.materials, name="pair-set-materials"),
    path("paradigms/sets/<int:pk>/delete/", pair_sets.delete, name="pair-set-delete"),
    path("paradigms/sets/<int:pk>/validation/", validation.validation, name="pair-set-validation"),
    path("lexicon/", lexicon.lexicon_page, name="lexicon"),
    path("lexicon/own/new/", word_lists.new, name="words-new"),
    path("lexicon/own/<int:pk>/", word_lists.words, name="words"),
    path("lexicon/own/<int:pk>/edit/", word_lists.edit, name="words-edit"),
    path("lexicon/own/<int:pk>/share/", word_lists.share_words, name="words-share"),
    path("lexicon/own/<int:pk>/delete/", word_lists.delete, name="words-delete"),
]
