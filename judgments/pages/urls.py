"""Addresses of the researcher's observing pages."""

from django.urls import path

from judgments.pages import judgments_views, overview_views

urlpatterns = [
    path("studies/<slug:slug>/", overview_views.overview, name="study"),
    path("studies/<slug:slug>/judgments/", judgments_views.judgments, name="study-judgments"),
]
