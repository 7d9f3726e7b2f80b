"""URLs of the researchers' pages on data collection."""

from django.urls import include, path

from judgments.pages import (
    archive_views,
    channel_views,
    decision_views,
    deletion_views,
    import_views,
    judgments_views,
    launch_views,
    overview_views,
    participants_views,
    privacy_views,
    selection_views,
)
from judgments.pages.recruitment import alert_views

urlpatterns = [
    path("", overview_views.home, name="home"),
    path("selected-studies/", selection_views.change_selected, name="studies-selected"),
    path("privacy/record/", privacy_views.record, name="processing-record"),
    path("studies/<slug:slug>/", overview_views.overview, name="study"),
    path("studies/<slug:slug>/archive/", archive_views.archive_study, name="study-archive"),
    path("studies/<slug:slug>/unarchive/", archive_views.unarchive_study, name="study-unarchive"),
    path("studies/<slug:slug>/delete/", deletion_views.delete, name="study-delete"),
    path("studies/<slug:slug>/links/", channel_views.personal_links, name="study-personal-links"),
    path("studies/<slug:slug>/channels/", channel_views.channels, name="study-channels"),
    path("studies/<slug:slug>/channels/new/", channel_views.add_channel, name="study-channel-add"),
    path("studies/<slug:slug>/channels/link.svg", channel_views.qr_code, name="study-link-qr"),
    path("studies/<slug:slug>/channels/quotas/", channel_views.save_quotas, name="study-quotas"),
    path("studies/<slug:slug>/channels/<slug:name>/", channel_views.channel, name="study-channel"),
    path(
        "studies/<slug:slug>/channels/<slug:name>/state/",
        channel_views.change_state,
        name="study-channel-state",
    ),
    path("studies/<slug:slug>/campaigns/", include("judgments.pages.recruitment.urls")),
    path("studies/<slug:slug>/live/", overview_views.live, name="study-live"),
    path("studies/<slug:slug>/live/part/", overview_views.live_part, name="study-live-part"),
    path("studies/<slug:slug>/launch/", launch_views.launch, name="study-launch"),
    path("studies/<slug:slug>/launch/waive/", launch_views.waive_check, name="study-waive"),
    path("studies/<slug:slug>/launch/dry-run/", launch_views.dry_run, name="study-dry-run"),
    path("studies/<slug:slug>/judgments/", judgments_views.judgments, name="study-judgments"),
    path("studies/<slug:slug>/mturk-batch.csv", judgments_views.mturk_batch, name="study-mturk-batch"),
    path("studies/<slug:slug>/preview/", launch_views.preview, name="study-preview"),
    path("studies/<slug:slug>/participants.csv", participants_views.download, name="study-participants-csv"),
    path("studies/<slug:slug>/participants/", participants_views.participants, name="study-participants"),
    path(
        "studies/<slug:slug>/participants/<int:participant_id>/flag/",
        decision_views.flag_participant,
        name="participant-flag",
    ),
    path("studies/<slug:slug>/flags/<int:flag_id>/lift/", decision_views.lift, name="flag-lift"),
    path("studies/<slug:slug>/participants/check/", decision_views.check, name="study-check"),
    path(
        "studies/<slug:slug>/participants/decide/",
        decision_views.decide_many,
        name="study-participants-decide",
    ),
    path("studies/<slug:slug>/participants/approve/", decision_views.pay_many, name="study-pay-many"),
    path(
        "studies/<slug:slug>/participants/<int:participant_id>/erase/",
        decision_views.erase_participant,
        name="participant-erase",
    ),
    path(
        "studies/<slug:slug>/participants/purge-date/",
        privacy_views.change_purge_date,
        name="study-purge-date",
    ),
    path(
        "studies/<slug:slug>/participants/<int:participant_id>/data.json",
        decision_views.export_participant,
        name="participant-export",
    ),
    path("studies/<slug:slug>/sessions/<int:session_id>/pay/", decision_views.pay, name="session-pay"),
    path(
        "studies/<slug:slug>/payments/<int:payment_id>/undo/",
        decision_views.undo_payment,
        name="payment-undo",
    ),
    path("account/alerts/", alert_views.preferences, name="account-alerts"),
    path("judgments/import/", import_views.upload, name="judgment-upload"),
    path("judgments/import/<uuid:batch>/", import_views.preview, name="judgment-preview"),
    path("judgments/import/<uuid:batch>/discard/", import_views.discard, name="judgment-discard"),
]
