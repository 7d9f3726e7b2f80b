"""URLs of the API of results, releases and models."""

from django.urls import path

from releases.api import (
    judgment_files,
    model_run_views,
    publication_views,
    report_views,
    study_report_views,
    study_template_views,
    views,
)

S = "studies/<slug:slug>/"

urlpatterns = [
    path("power/", report_views.PowerView.as_view(), name="api-power"),
    path(f"{S}exclusions/", report_views.ExclusionsView.as_view(), name="api-exclusions"),
    path(f"{S}progress/", report_views.ProgressView.as_view(), name="api-progress"),
    path(f"{S}items/", report_views.ItemsView.as_view(), name="api-items"),
    path(f"{S}reliability/", report_views.ReliabilityView.as_view(), name="api-reliability"),
    path(f"{S}effects/", report_views.EffectsView.as_view(), name="api-effects"),
    path(f"{S}times/", report_views.TimesView.as_view(), name="api-times"),
    path(f"{S}groups/", report_views.GroupsView.as_view(), name="api-groups"),
    path(f"{S}sequential/", report_views.SequentialView.as_view(), name="api-sequential"),
    path(f"{S}multiverse/", report_views.MultiverseView.as_view(), name="api-multiverse"),
    path(f"{S}ordinal/", report_views.OrdinalView.as_view(), name="api-ordinal"),
    path(f"{S}power/", report_views.PilotView.as_view(), name="api-pilot"),
    path(f"{S}deviations/", study_report_views.DeviationsView.as_view(), name="api-deviations"),
    path(
        f"{S}deviations/version/",
        study_report_views.PreregisteredVersionView.as_view(),
        name="api-preregistered-version",
    ),
    path(f"{S}judgments.csv", judgment_files.JudgmentsCsv.as_view(), name="api-judgments-csv"),
    path(f"{S}judgments.jsonl", judgment_files.JudgmentsJsonl.as_view(), name="api-judgments-jsonl"),
    path(f"{S}agreement/", views.AgreementView.as_view(), name="api-agreement"),
    path(f"{S}ratings/", views.RatingsView.as_view(), name="api-ratings"),
    path(f"{S}exclusion-plans/", views.PlanViews.as_view(), name="api-plans"),
    path(f"{S}reports/", study_report_views.StudyReportViews.as_view(), name="api-study-reports"),
    path(f"{S}reports/<int:number>/", study_report_views.StudyReportView.as_view(), name="api-study-report"),
    path(
        f"{S}reports/<int:number>/files/<str:name>",
        study_report_views.StudyReportFileView.as_view(),
        name="api-study-report-file",
    ),
    path(f"{S}template/", study_template_views.StudyTemplateView.as_view(), name="api-study-template"),
    path("study-templates/", study_template_views.StudyTemplatesView.as_view(), name="api-study-templates"),
    path(f"{S}releases/", views.ReleaseViews.as_view(), name="api-releases"),
    path(f"{S}releases/<int:number>/", views.ReleaseView.as_view(), name="api-release"),
    path(
        f"{S}releases/<int:number>/publications/",
        publication_views.PublicationViews.as_view(),
        name="api-publications",
    ),
    path(
        f"{S}releases/<int:number>/publications/preview/",
        publication_views.PublicationPreviewView.as_view(),
        name="api-publication-preview",
    ),
    path(f"{S}releases/<int:number>/download/", views.ReleaseZipView.as_view(), name="api-release-zip"),
    path(
        f"{S}releases/<int:number>/files/<path:name>",
        views.ReleaseFileView.as_view(),
        name="api-release-file",
    ),
    path(f"{S}releases/<int:number>/leaderboard/", views.LeaderboardView.as_view(), name="api-leaderboard"),
    path(f"{S}score-sets/", views.ScoreSetViews.as_view(), name="api-score-sets"),
    path(f"{S}scoring-runs/", views.RunViews.as_view(), name="api-runs"),
    path(f"{S}scoring-runs/<int:pk>/", model_run_views.RunView.as_view(), name="api-run"),
    path(f"{S}scoring-runs/<int:pk>/retry/", model_run_views.RunRetryView.as_view(), name="api-run-retry"),
    path(f"{S}scoring-runs/<int:pk>/file/", model_run_views.RunFileView.as_view(), name="api-run-file"),
    path(
        f"{S}scoring-runs/<int:pk>/surprisals/",
        model_run_views.SurprisalViews.as_view(),
        name="api-surprisals",
    ),
    path(f"{S}model-runs/", model_run_views.ModelRunViews.as_view(), name="api-model-runs"),
    path(f"{S}comparisons/", views.ComparisonViews.as_view(), name="api-comparisons"),
    path(f"{S}comparisons/<int:pk>/", views.ComparisonView.as_view(), name="api-comparison"),
]
