"""Addresses of the participant's side."""

from django.urls import path

from judgments.screens.arrival_views import take
from judgments.screens.session_views import answer, current, leaving, onward, questions, quiz, withdrawing

urlpatterns = [
    path("take/<slug:slug>/", take, name="take"),
    path("s/<str:token>/", current, name="session"),
    path("s/<str:token>/questions/", questions, name="session-questions"),
    path("s/<str:token>/quiz/", quiz, name="session-quiz"),
    path("s/<str:token>/withdraw/", withdrawing, name="session-withdraw"),
    path("s/<str:token>/continue/", onward, name="session-continue"),
    path("s/<str:token>/trials/<str:public_id>/", answer, name="session-answer"),
    path("s/<str:token>/leave/", leaving, name="session-leave"),
]
