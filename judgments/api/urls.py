"""Addresses of the judgments API."""

from django.urls import include, path

from judgments.api import views

urlpatterns = [
    path("sessions/", include("judgments.api.session_urls")),
    path("studies/<slug:slug>/archive/", views.ArchiveView.as_view(), name="api-archive"),
    path("studies/<slug:slug>/unarchive/", views.UnarchiveView.as_view(), name="api-unarchive"),
    path("studies/<slug:slug>/judgments/", views.JudgmentViews.as_view(), name="api-judgments"),
    path("studies/<slug:slug>/mturk-batch.csv", views.MturkBatchCsv.as_view(), name="api-mturk-batch"),
]
