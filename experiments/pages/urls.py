"""Addresses of the researcher's planning pages."""

from django.urls import include, path

from experiments.pages import (
    account_views,
    design_views,
    home_views,
    job_views,
    manual_views,
    question_views,
    round_views,
    settings_views,
    state_views,
    team_views,
)

urlpatterns = [
    path("studies/new/", home_views.create, name="study-create"),
    path("studies/<slug:slug>/copy/", home_views.copy, name="study-copy"),
    path("studies/<slug:slug>/settings/", settings_views.settings, name="study-settings"),
    path("studies/<slug:slug>/questions/", question_views.questions, name="study-questions"),
    path("studies/<slug:slug>/settings/task/", settings_views.change_task, name="study-task"),
    path("studies/<slug:slug>/design/", design_views.design, name="study-design"),
    path("studies/<slug:slug>/design/rounds/", round_views.add, name="study-round-add"),
    path("studies/<slug:slug>/design/rounds/<int:number>/", round_views.change, name="study-round"),
    path(
        "studies/<slug:slug>/design/rounds/<int:number>/remove/",
        round_views.remove,
        name="study-round-remove",
    ),
    path(
        "studies/<slug:slug>/design/rounds/<int:number>/start/", round_views.start, name="study-round-start"
    ),
    path("studies/<slug:slug>/move/<slug:step>/", state_views.move, name="study-move"),
    path("studies/<slug:slug>/team/", team_views.team, name="study-team"),
    path("studies/<slug:slug>/team/<int:member_id>/remove/", team_views.remove, name="study-team-remove"),
    path("materials/", include("experiments.pages.materials_urls")),
    path("manual/", manual_views.manual, name="manual"),
    path("manual/<path:name>", manual_views.manual_page, name="manual-page"),
    path("jobs/", job_views.jobs, name="jobs"),
    path("jobs/<int:job_id>/", job_views.job, name="job"),
    path("jobs/<int:job_id>/part/", job_views.part, name="job-part"),
    path("account/", account_views.account, name="account"),
    path("account/token/", account_views.token, name="account-token"),
]
