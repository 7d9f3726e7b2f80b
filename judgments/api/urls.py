"""Addresses of the judgments API."""

from django.urls import include, path

from judgments.api import launch_views, participant_views, payment_views, views

S = "studies/<slug:slug>/"

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
    path(f"{S}delete/", participant_views.DeleteView.as_view(), name="api-delete"),
    path(f"{S}participants/", participant_views.ParticipantViews.as_view(), name="api-participants"),
    path(f"{S}participants/check/", participant_views.CheckView.as_view(), name="api-check"),
    path(f"{S}participants/<int:pk>/erase/", participant_views.EraseView.as_view(), name="api-erase"),
    path(
        f"{S}participants/<int:pk>/data/", participant_views.PersonDataView.as_view(), name="api-person-data"
    ),
    path(f"{S}purge-date/", participant_views.PurgeDateView.as_view(), name="api-purge-date"),
    path(f"{S}flags/", participant_views.FlagViews.as_view(), name="api-flags"),
    path(f"{S}flags/lift/", participant_views.FlagLiftView.as_view(), name="api-flags-lift"),
    path(f"{S}flags/<int:pk>/", participant_views.FlagView.as_view(), name="api-flag"),
    path(f"{S}payments/", payment_views.PaymentViews.as_view(), name="api-payments"),
    path(f"{S}payments/<int:pk>/undo/", payment_views.PaymentUndoView.as_view(), name="api-payment-undo"),
    path(f"{S}sessions/<int:pk>/payments/", payment_views.SessionPaymentView.as_view(), name="api-pay"),
]
