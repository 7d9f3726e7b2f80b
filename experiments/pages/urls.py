"""Addresses of the researcher's planning pages."""

from django.urls import include, path

from experiments.operation import page
from experiments.pages import (
    account,
    jobs,
    manual,
    questions,
    settings,
    studies,
    trial_builder,
    webhooks,
)
from experiments.pages.design import page as design
from experiments.pages.design import rounds, sample
from experiments.pages.editing import history, restore, texts
from experiments.pages.settings_steps import STEPS

urlpatterns = [
    path("studies/new/", studies.create, name="study-create"),
    path("studies/<slug:slug>/copy/", studies.copy, name="study-copy"),
    path("studies/<slug:slug>/folder/", studies.folder, name="study-folder"),
    path("studies/<slug:slug>/settings/", settings.settings, name="study-settings"),
    path("studies/<slug:slug>/trials/<str:name>/", trial_builder.trials, name="study-trials"),
    path("studies/<slug:slug>/questions/", questions.questions, name="study-questions"),
    path("studies/<slug:slug>/settings/task/", settings.task_step, name="study-task"),
    *(
        path(
            f"studies/<slug:slug>/settings/{step}/",
            settings.settings,
            {"step": step},
            name=f"study-settings-{step}",
        )
        for step in STEPS
    ),
    path("studies/<slug:slug>/history/", history.study_history, name="study-history"),
    path("studies/<slug:slug>/history/<int:entry_id>/restore/", restore.restore, name="study-restore"),
    path("studies/<slug:slug>/history.csv", history.study_history_csv, name="study-history-csv"),
    path("labs/<slug:slug>/history/", history.lab_history, name="lab-history"),
    path("labs/<slug:slug>/history.csv", history.lab_history_csv, name="lab-history-csv"),
    path("studies/<slug:slug>/texts/", texts.texts, name="study-texts"),
    path("studies/<slug:slug>/design/", design.design, name="study-design"),
    path("studies/<slug:slug>/design/target/", sample.target, name="study-target"),
    path("studies/<slug:slug>/design/split/", sample.use_split, name="study-split"),
    path("studies/<slug:slug>/design/left-out/", sample.leave_out, name="study-leave-out"),
    path("studies/<slug:slug>/design/rounds/", rounds.add, name="study-round-add"),
    path("studies/<slug:slug>/design/rounds/<int:number>/", rounds.change, name="study-round"),
    path(
        "studies/<slug:slug>/design/rounds/<int:number>/remove/",
        rounds.remove,
        name="study-round-remove",
    ),
    path("studies/<slug:slug>/design/rounds/<int:number>/start/", rounds.start, name="study-round-start"),
    path("studies/<slug:slug>/move/<slug:step>/", studies.move, name="study-move"),
    path("studies/<slug:slug>/webhooks/", webhooks.webhooks, name="study-webhooks"),
    path("studies/<slug:slug>/webhooks/<int:number>/", webhooks.webhook, name="study-webhook"),
    path("studies/<slug:slug>/webhooks/<int:number>/test/", webhooks.test, name="study-webhook-test"),
    path("studies/<slug:slug>/webhooks/<int:number>/switch/", webhooks.switch, name="study-webhook-switch"),
    path("studies/<slug:slug>/webhooks/<int:number>/secret/", webhooks.rotate, name="study-webhook-rotate"),
    path("studies/<slug:slug>/webhooks/<int:number>/remove/", webhooks.remove, name="study-webhook-remove"),
    path(
        "studies/<slug:slug>/webhooks/<int:number>/deliveries/<int:delivery>/send/",
        webhooks.send_again,
        name="study-webhook-again",
    ),
    path("", include("experiments.pages.teams.urls")),
    path("materials/", include("experiments.pages.materials.urls")),
    path("manual/", manual.manual, name="manual"),
    path("manual/<path:name>", manual.manual_page, name="manual-page"),
    path("operation/", page.operation, name="operation"),
    path("operation/accounts/", history.accounts_history, name="accounts-history"),
    path("operation/accounts.csv", history.accounts_history_csv, name="accounts-history-csv"),
    path("demo/progress/", jobs.demo_progress, name="demo-progress"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<int:job_id>/", jobs.job, name="job"),
    path("jobs/<int:job_id>/part/", jobs.part, name="job-part"),
    path("account/", account.account, name="account"),
    path("account/history/", history.account_history, name="account-history"),
    path("account/history.csv", history.account_history_csv, name="account-history-csv"),
    path("account/sessions/", account.sessions, name="account-sessions"),
    path("account/time-zone/", account.time_zone, name="account-time-zone"),
    path("account/token/", account.token, name="account-token"),
]
