"""Addresses of the judgments API."""

from typing import Any

from django.urls import include, path

from judgments.api import (
    campaign_views,
    channel_views,
    import_views,
    launch_views,
    participant_views,
    payment_views,
    views,
)

S = "studies/<slug:slug>/"

CAMPAIGN: tuple[tuple[str, Any, str], ...] = (
    ("", campaign_views.CampaignView, ""),
    ("checks/", campaign_views.CampaignChecksView, "-checks"),
    ("publish/", campaign_views.PublishView, "-publish"),
    ("actions/", campaign_views.CampaignActionView, "-actions"),
    ("places/", campaign_views.PlacesView, "-places"),
    ("read/", campaign_views.ReadView, "-read"),
    ("submissions/", campaign_views.SubmissionViews, "-submissions"),
    ("submissions/<int:submission>/messages/", campaign_views.MessageView, "-messages"),
    ("decisions/", campaign_views.DecisionsView, "-decisions"),
    ("sending/", campaign_views.SendingView, "-sending"),
    ("release/", campaign_views.ReleaseView, "-release"),
)

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
    path(f"{S}accounts/", campaign_views.AccountViews.as_view(), name="api-accounts"),
    path(f"{S}campaigns/", campaign_views.CampaignViews.as_view(), name="api-campaigns"),
    *(
        path(f"{S}campaigns/<int:pk>/{address}", view.as_view(), name=f"api-campaign{name}")
        for address, view, name in CAMPAIGN
    ),
    path(f"{S}platform-calls/", campaign_views.CallViews.as_view(), name="api-platform-calls"),
    path(f"{S}platform-calls/<int:pk>/ask/", campaign_views.CallAskView.as_view(), name="api-call-ask"),
    path(
        f"{S}platform-calls/<int:pk>/settle/", campaign_views.CallSettleView.as_view(), name="api-call-settle"
    ),
    path(f"{S}channels/", channel_views.ChannelViews.as_view(), name="api-channels"),
    path(f"{S}channels/<slug:name>/", channel_views.ChannelView.as_view(), name="api-channel"),
    path(
        f"{S}channels/<slug:name>/state/", channel_views.ChannelStateView.as_view(), name="api-channel-state"
    ),
    path(f"{S}quotas/", channel_views.QuotasView.as_view(), name="api-quotas"),
    path(f"{S}links/", channel_views.LinksView.as_view(), name="api-links"),
    path(f"{S}alerts/", channel_views.AlertViews.as_view(), name="api-alerts"),
    path(f"{S}alerts/<int:pk>/", channel_views.AlertView.as_view(), name="api-alert"),
    path(f"{S}alert-settings/", channel_views.AlertSettingsView.as_view(), name="api-alert-settings"),
    path("judgment-uploads/", import_views.JudgmentUploadsView.as_view(), name="api-judgment-uploads"),
    path(
        "judgment-uploads/<uuid:id>/", import_views.JudgmentUploadView.as_view(), name="api-judgment-upload"
    ),
    path(
        "judgment-uploads/<uuid:id>/import/",
        import_views.JudgmentImportView.as_view(),
        name="api-judgment-import",
    ),
]
