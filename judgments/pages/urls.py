"""Addresses of the researcher's observing pages."""

from django.urls import path

from judgments.pages import overview_views

urlpatterns = [
    path("studies/<slug:slug>/", overview_views.overview, name="study"),
]
