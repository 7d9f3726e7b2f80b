"""Addresses of one session, under ``/api/v1/sessions/``; served through config.http.token_addresses."""

from django.urls import path

from judgments.api import session_views

urlpatterns = [
    path("<str:token>/judgments/", session_views.store, name="api-session-judgments"),
    path("<str:token>/plan/", session_views.plan, name="api-session-plan"),
]
