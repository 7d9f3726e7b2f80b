"""URLs of the researchers' pages on data collection."""

from django.urls import path

from judgments.pages import (
    decision_views,
    import_views,
    judgments_views,
    launch_views,
    overview_views,
    participants_views,
    previews,
    selection_views,
    study_data_views,
)

urlpatterns = [
    path("", overview_views.home, name="home"),
    path("selected-studies/", selection_views.change_selected, name="studies-selected"),
    path("privacy/record/", study_data_views.record, name="processing-record"),
    path("privacy/record.md", study_data_views.record_file, name="processing-record-file"),
    path(
        "studies/<slug:slug>/data-protection.md",
        study_data_views.assessment_file,
        name="study-data-protection",
    ),
    path("studies/<slug:slug>/", overview_views.overview, name="study"),
    path("studies/<slug:slug>/archive/", study_data_views.archive_study, name="study-archive"),
    path("studies/<slug:slug>/unarchive/", study_data_views.unarchive_study, name="study-unarchive"),
    path("studies/<slug:slug>/delete/", study_data_views.delete, name="study-delete"),
    path("studies/<slug:slug>/live/", overview_views.live, name="study-live"),
    path("studies/<slug:slug>/live/part/", overview_views.live_part, name="study-live-part"),
    path("studies/<slug:slug>/launch/", launch_views.launch, name="study-launch"),
    path("studies/<slug:slug>/launch/waive/", launch_views.waive_check, name="study-waive"),
    path("studies/<slug:slug>/launch/dry-run/", launch_views.dry_run, name="study-dry-run"),
    path("studies/<slug:slug>/judgments/", judgments_views.judgments, name="study-judgments"),
    path("studies/<slug:slug>/mturk-batch.csv", judgments_views.mturk_batch, name="study-mturk-batch"),
    path("studies/<slug:slug>/preview/phone/", previews.create_link, name="study-phone-preview"),
    path("take/preview/<str:token>/", previews.try_study, name="phone-preview"),
    path("studies/<slug:slug>/preview/", previews.preview, name="study-preview"),
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
        study_data_views.change_purge_date,
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
    path("judgments/import/", import_views.wizard.upload, name="judgment-upload"),
    path("judgments/import/<uuid:batch>/", import_views.wizard.preview, name="judgment-preview"),
    path("judgments/import/<uuid:batch>/discard/", import_views.wizard.discard, name="judgment-discard"),
]
