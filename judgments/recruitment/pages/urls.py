"""URLs of the researchers' pages of recruitment, below the address of a study."""

from django.urls import path

from judgments.pages.recruitment import (
    account_views,
    alert_views,
    campaign_views,
    demographic_views,
    ledger_views,
    message_views,
    setup_views,
    submission_views,
)

urlpatterns = [
    path("accounts/", account_views.accounts, name="study-accounts"),
    path("accounts/add/<slug:platform>/", account_views.add, name="study-account-add"),
    path("accounts/<int:account_id>/test/", account_views.test_connection, name="study-account-test"),
    path("accounts/<int:account_id>/token/", account_views.replace_token, name="study-account-token"),
    path("accounts/<int:account_id>/events/", account_views.switch_events, name="study-account-events"),
    path("accounts/<int:account_id>/attach/", account_views.attach, name="study-account-attach"),
    path("accounts/<int:account_id>/remove/", account_views.remove, name="study-account-remove"),
    path("", campaign_views.campaign_list, name="study-campaigns"),
    path("new/", setup_views.start, name="study-campaign-add"),
    path("<int:campaign_id>/", campaign_views.campaign, name="study-campaign"),
    path("<int:campaign_id>/setup/<slug:name>/", setup_views.step, name="study-campaign-step"),
    path("<int:campaign_id>/publish/", setup_views.publish, name="study-campaign-publish"),
    path("<int:campaign_id>/calls.json", setup_views.planned_calls, name="study-campaign-calls"),
    path("<int:campaign_id>/discard/", setup_views.discard, name="study-campaign-discard"),
    path("<int:campaign_id>/act/", campaign_views.act, name="study-campaign-act"),
    path("<int:campaign_id>/places/", campaign_views.add_places, name="study-campaign-places"),
    path("<int:campaign_id>/limits/", campaign_views.change_limits, name="study-campaign-limits"),
    path("<int:campaign_id>/read/", campaign_views.read_platform, name="study-campaign-read"),
    path("<int:campaign_id>/demographics/", demographic_views.demographics, name="study-demographics"),
    path("<int:campaign_id>/submissions/", submission_views.submissions, name="study-submissions"),
    path(
        "<int:campaign_id>/submissions/decide/", submission_views.decide_many, name="study-submissions-decide"
    ),
    path("<int:campaign_id>/codes/", message_views.codes, name="study-codes"),
    path("<int:campaign_id>/send/", submission_views.send, name="study-submissions-send"),
    path("<int:campaign_id>/release/", submission_views.release, name="study-submissions-release"),
    path(
        "<int:campaign_id>/submissions/<int:submission_id>/",
        submission_views.submission,
        name="study-submission",
    ),
    path(
        "<int:campaign_id>/submissions/<int:submission_id>/message/",
        submission_views.send_message,
        name="study-submission-message",
    ),
    path("alerts/", alert_views.alerts, name="study-alerts"),
    path("alerts/<int:alert_id>/dismiss/", alert_views.dismiss, name="study-alert-dismiss"),
    path("payments/", ledger_views.payments, name="study-payments"),
    path("payments/accounting.csv", ledger_views.accounting, name="study-payments-csv"),
    path("payments/calls/<int:call_id>/ask/", ledger_views.ask_platform, name="study-call-ask"),
    path("payments/calls/<int:call_id>/settle/", ledger_views.settle, name="study-call-settle"),
]
