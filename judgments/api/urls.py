"""Addresses of the judgments API."""

from django.urls import include, path

from judgments.api import launch_views, views

urlpatterns = [
    path("sessions/", include("judgments.api.session_urls")),
    path("studies/<slug:slug>/archive/", views.ArchiveView.as_view(), name="api-archive"),
    path("studies/<slug:slug>/unarchive/", views.UnarchiveView.as_view(), name="api-unarchive"),
    path("studies/<slug:slug>/checklist/", launch_views.ChecklistView.as_view(), name="api-checklist"),
    path(
        "studies/<slug:slug>/checklist/<str:check>/waiver/",
        launch_views.WaiverView.as_view(),
        name="api-waiver",
    ),
    path("studies/<slug:slug>/preview/", launch_views.PreviewView.as_view(), name="api-preview"),
    path("studies/<slug:slug>/dry-run/", launch_views.DryRunView.as_view(), name="api-dry-run"),
    path("studies/<slug:slug>/pilot/", launch_views.PilotStudyView.as_view(), name="api-start-pilot"),
    path("studies/<slug:slug>/open/", launch_views.OpenView.as_view(), name="api-open"),
    path("studies/<slug:slug>/pause/", launch_views.PauseView.as_view(), name="api-pause"),
    path("studies/<slug:slug>/close/", launch_views.CloseView.as_view(), name="api-close"),
    path(
        "studies/<slug:slug>/rounds/<int:number>/start/",
        launch_views.RoundStartView.as_view(),
        name="api-round-start",
    ),
    path("studies/<slug:slug>/judgments/", views.JudgmentViews.as_view(), name="api-judgments"),
    path("studies/<slug:slug>/mturk-batch.csv", views.MturkBatchCsv.as_view(), name="api-mturk-batch"),
]
