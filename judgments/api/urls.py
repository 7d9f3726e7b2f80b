"""Addresses of the observing side's resources."""

from django.urls import path

from judgments.api import session_views, views

urlpatterns = [
    path("sessions/<str:token>/judgments/", session_views.store, name="api-session-judgments"),
    path("sessions/<str:token>/plan/", session_views.plan, name="api-session-plan"),
    path("studies/<slug:slug>/judgments/", views.JudgmentViews.as_view(), name="api-judgments"),
    path("studies/<slug:slug>/judgments.csv", views.JudgmentsCsv.as_view(), name="api-judgments-csv"),
    path("studies/<slug:slug>/judgments.jsonl", views.JudgmentsJsonl.as_view(), name="api-judgments-jsonl"),
]
