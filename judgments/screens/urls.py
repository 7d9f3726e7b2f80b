"""Addresses of the participant's side."""

from django.urls import path

from judgments.screens.arrival_views import take
from judgments.screens.handed_views import handed
from judgments.screens.kept_views import kept, worker
from judgments.screens.session_views import answer, current, leaving, onward, questions, quiz, withdrawing
from judgments.screens.warm_up_views import modulus, training

urlpatterns = [
    path("take/<slug:slug>/", take, name="take"),
    path("s/worker.js", worker, name="session-worker"),
    path("s/<str:token>/", current, name="session"),
    path("s/<str:token>/kept/", kept, name="session-kept"),
    path("s/<str:token>/handed/", handed, name="session-handed"),
    path("s/<str:token>/questions/", questions, name="session-questions"),
    path("s/<str:token>/quiz/", quiz, name="session-quiz"),
    path("s/<str:token>/training/", training, name="session-training"),
    path("s/<str:token>/modulus/", modulus, name="session-modulus"),
    path("s/<str:token>/withdraw/", withdrawing, name="session-withdraw"),
    path("s/<str:token>/continue/", onward, name="session-continue"),
    path("s/<str:token>/trials/<str:public_id>/", answer, name="session-answer"),
    path("s/<str:token>/leave/", leaving, name="session-leave"),
]
