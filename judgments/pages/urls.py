"""Addresses of the researcher's observing pages."""

from django.urls import path

from judgments.pages import (
    decision_views,
    ending_views,
    home_views,
    import_views,
    judgments_views,
    launch_views,
    live_views,
    overview_views,
    participants_file,
    participants_views,
    preview_views,
)

urlpatterns = [
    path("", home_views.home, name="home"),
    path("studies/<slug:slug>/", overview_views.overview, name="study"),
    path("studies/<slug:slug>/delete/", ending_views.delete, name="study-delete"),
    path("studies/<slug:slug>/live/", live_views.live, name="study-live"),
    path("studies/<slug:slug>/live/part/", live_views.part, name="study-live-part"),
    path("studies/<slug:slug>/launch/", launch_views.launch, name="study-launch"),
    path("studies/<slug:slug>/launch/waive/", launch_views.do_without, name="study-waive"),
    path("studies/<slug:slug>/launch/dry-run/", launch_views.dry_run, name="study-dry-run"),
    path("studies/<slug:slug>/judgments/", judgments_views.judgments, name="study-judgments"),
    path("studies/<slug:slug>/preview/", preview_views.preview, name="study-preview"),
    path("studies/<slug:slug>/participants.csv", participants_file.download, name="study-participants-csv"),
    path("studies/<slug:slug>/participants/", participants_views.participants, name="study-participants"),
    path(
        "studies/<slug:slug>/participants/<int:participant_id>/flag/",
        participants_views.flag,
        name="participant-flag",
    ),
    path("studies/<slug:slug>/flags/<int:flag_id>/lift/", participants_views.lift, name="flag-lift"),
    path("studies/<slug:slug>/participants/check/", decision_views.check, name="study-check"),
    path("studies/<slug:slug>/participants/approve/", decision_views.pay_many, name="study-pay-many"),
    path(
        "studies/<slug:slug>/participants/<int:participant_id>/erase/",
        decision_views.forget,
        name="participant-erase",
    ),
    path("studies/<slug:slug>/sessions/<int:session_id>/pay/", decision_views.pay, name="session-pay"),
    path(
        "studies/<slug:slug>/payments/<int:payment_id>/undo/", decision_views.take_back, name="payment-undo"
    ),
    path("judgments/import/", import_views.upload, name="judgment-upload"),
    path("judgments/import/<uuid:batch>/", import_views.preview, name="judgment-preview"),
    path("judgments/import/<uuid:batch>/discard/", import_views.discard, name="judgment-discard"),
]
