"""URLs of the researchers' pages of recruitment, below the address of a study."""

from django.urls import path

from judgments.recruitment.pages import (
    account_views,
    alert_views,
    campaign_views,
    channel_views,
    demographic_views,
    ledger_views,
    message_views,
    setup_views,
    submission_views,
)

urlpatterns = [
    path("studies/<slug:slug>/campaigns/accounts/", account_views.accounts, name="study-accounts"),
    path(
        "studies/<slug:slug>/campaigns/accounts/add/<slug:platform>/",
        account_views.add,
        name="study-account-add",
    ),
    path(
        "studies/<slug:slug>/campaigns/accounts/<int:account_id>/test/",
        account_views.test_connection,
        name="study-account-test",
    ),
    path(
        "studies/<slug:slug>/campaigns/accounts/<int:account_id>/token/",
        account_views.replace_token,
        name="study-account-token",
    ),
    path(
        "studies/<slug:slug>/campaigns/accounts/<int:account_id>/events/",
        account_views.switch_events,
        name="study-account-events",
    ),
    path(
        "studies/<slug:slug>/campaigns/accounts/<int:account_id>/attach/",
        account_views.attach,
        name="study-account-attach",
    ),
    path(
        "studies/<slug:slug>/campaigns/accounts/<int:account_id>/remove/",
        account_views.remove,
        name="study-account-remove",
    ),
    path("studies/<slug:slug>/campaigns/", campaign_views.campaign_list, name="study-campaigns"),
    path("studies/<slug:slug>/campaigns/new/", setup_views.start, name="study-campaign-add"),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", campaign_views.campaign, name="study-campaign"),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/setup/<slug:name>/",
        setup_views.step,
        name="study-campaign-step",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/publish/",
        setup_views.publish,
        name="study-campaign-publish",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/calls.json",
        setup_views.planned_calls,
        name="study-campaign-calls",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/discard/",
        setup_views.discard,
        name="study-campaign-discard",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/act/", campaign_views.act, name="study-campaign-act"
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/places/",
        campaign_views.add_places,
        name="study-campaign-places",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/limits/",
        campaign_views.change_limits,
        name="study-campaign-limits",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/read/",
        campaign_views.read_platform,
        name="study-campaign-read",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/demographics/",
        demographic_views.demographics,
        name="study-demographics",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/submissions/",
        submission_views.submissions,
        name="study-submissions",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/submissions/decide/",
        submission_views.decide_many,
        name="study-submissions-decide",
    ),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/codes/", message_views.codes, name="study-codes"),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/send/",
        submission_views.send,
        name="study-submissions-send",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/release/",
        submission_views.release,
        name="study-submissions-release",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/submissions/<int:submission_id>/",
        submission_views.submission,
        name="study-submission",
    ),
    path(
        "studies/<slug:slug>/campaigns/<int:campaign_id>/submissions/<int:submission_id>/message/",
        submission_views.send_message,
        name="study-submission-message",
    ),
    path("studies/<slug:slug>/campaigns/alerts/", alert_views.alerts, name="study-alerts"),
    path(
        "studies/<slug:slug>/campaigns/alerts/<int:alert_id>/dismiss/",
        alert_views.dismiss,
        name="study-alert-dismiss",
    ),
    path("studies/<slug:slug>/campaigns/payments/", ledger_views.payments, name="study-payments"),
    path(
        "studies/<slug:slug>/campaigns/payments/accounting.csv",
        ledger_views.accounting,
        name="study-payments-csv",
    ),
    path(
        "studies/<slug:slug>/campaigns/payments/calls/<int:call_id>/ask/",
        ledger_views.ask_platform,
        name="study-call-ask",
    ),
    path(
        "studies/<slug:slug>/campaigns/payments/calls/<int:call_id>/settle/",
        ledger_views.settle,
        name="study-call-settle",
    ),
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
    path("account/alerts/", alert_views.preferences, name="account-alerts"),
]
