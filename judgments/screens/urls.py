"""Addresses of participants' pages."""

from django.urls import path
from django.views.decorators.http import require_safe

from judgments.screens.arrival_views import consent
from judgments.screens.consent_copy import copy_page, copy_pdf, own_page, own_pdf
from judgments.screens.offline_views import offline_page, submit_answers, worker
from judgments.screens.session_views import (
    closing,
    continue_session,
    current,
    leave_session,
    modulus,
    next_participant,
    questions,
    quiz,
    report_plain_form,
    submit_answer,
    training,
    withdraw,
)

urlpatterns = [
    path("take/<slug:slug>/", consent, name="take"),
    path("take/<slug:slug>/panel/<slug:detail>/", consent, {"recruiter": "panel"}, name="take-panel"),
    path("take/<slug:slug>/mturk/", consent, {"recruiter": "mturk"}, name="take-mturk"),
    path(
        "take/<slug:slug>/prolific/",
        require_safe(consent),
        {"recruiter": "prolific"},
        name="take-prolific",
    ),
    path(
        "take/<slug:slug>/prolific/<str:detail>/",
        consent,
        {"recruiter": "prolific"},
        name="take-prolific-entry",
    ),
    path("take/<slug:slug>/consent/", copy_page, name="consent-copy"),
    path("take/<slug:slug>/consent.pdf", copy_pdf, name="consent-pdf"),
    path("s/<str:token>/consent/", own_page, name="session-consent"),
    path("s/<str:token>/consent.pdf", own_pdf, name="session-consent-pdf"),
    path("s/worker.js", worker, name="session-worker"),
    path("s/<str:token>/", current, name="session"),
    path("s/<str:token>/kept/", offline_page, name="session-kept"),
    path("s/<str:token>/handed/", submit_answers, name="session-handed"),
    path("s/<str:token>/questions/", questions, name="session-questions"),
    path("s/<str:token>/closing/", closing, name="session-closing"),
    path("s/<str:token>/quiz/", quiz, name="session-quiz"),
    path("s/<str:token>/training/", training, name="session-training"),
    path("s/<str:token>/modulus/", modulus, name="session-modulus"),
    path("s/<str:token>/withdraw/", withdraw, name="session-withdraw"),
    path("s/<str:token>/continue/", continue_session, name="session-continue"),
    path("s/<str:token>/trials/<str:public_id>/", submit_answer, name="session-answer"),
    path("s/<str:token>/plain-form/", report_plain_form, name="session-plain-form"),
    path("s/<str:token>/next/", next_participant, name="session-next"),
    path("s/<str:token>/leave/", leave_session, name="session-leave"),
]
