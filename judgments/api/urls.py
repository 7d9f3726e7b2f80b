"""Addresses of the observing side's resources."""

from django.urls import include, path

from judgments.api import views

urlpatterns = [
    path("sessions/", include("judgments.api.session_urls")),
    path("studies/<slug:slug>/judgments/", views.JudgmentViews.as_view(), name="api-judgments"),
    path("studies/<slug:slug>/judgments.csv", views.JudgmentsCsv.as_view(), name="api-judgments-csv"),
    path("studies/<slug:slug>/judgments.jsonl", views.JudgmentsJsonl.as_view(), name="api-judgments-jsonl"),
]
