"""Addresses of the judgments API."""

from django.urls import include, path

from judgments.api import views

urlpatterns = [
    path("sessions/", include("judgments.api.session_urls")),
    path("studies/<slug:slug>/judgments/", views.JudgmentViews.as_view(), name="api-judgments"),
]
