"""Addresses of the concluding pages."""

from django.urls import path

from analysis.releases.views import (
    agreement,
    depth,
    exclusions,
    figures,
    items,
    leaderboard,
    models,
    preregistration,
    ratings,
    releases,
)

S = "studies/<slug:slug>/"

urlpatterns = [
    path(f"{S}exclusions/", exclusions.exclusions, name="study-exclusions"),
    path(f"{S}agreement/", agreement.agreement, name="study-agreement"),
    path(f"{S}agreement.csv", agreement.as_csv, name="study-agreement-csv"),
    path(f"{S}agreement.json", agreement.as_json, name="study-agreement-json"),
    path(f"{S}items/", items.items, name="study-items"),
    path(f"{S}ratings/", ratings.ratings, name="study-ratings"),
    path(f"{S}ratings.csv", ratings.as_csv, name="study-ratings-csv"),
    path(f"{S}ratings.json", ratings.as_json, name="study-ratings-json"),
    path(f"{S}figures/<slug:name>.<slug:form>", figures.figure, name="study-figure"),
    path(f"{S}releases/", releases.releases, name="study-releases"),
    path(f"{S}releases/<int:number>/", releases.release, name="study-release"),
    path(f"{S}releases/<int:number>.zip", releases.download, name="study-release-zip"),
    path(f"{S}releases/<int:number>/files/<str:name>", releases.file, name="study-release-file"),
    path(
        f"{S}versions/<int:number>/preregistration.zip",
        preregistration.download,
        name="study-preregistration",
    ),
    path(f"{S}releases/<int:number>/leaderboard/", leaderboard.board, name="study-leaderboard"),
    path(f"{S}releases/<int:number>/leaderboard.csv", leaderboard.as_csv, name="study-leaderboard-csv"),
    path(f"{S}releases/<int:number>/leaderboard.json", leaderboard.as_json, name="study-leaderboard-json"),
    path(
        f"{S}releases/<int:number>/leaderboard/compare/",
        leaderboard.compare_rest,
        name="study-leaderboard-compare",
    ),
    path(f"{S}models/", models.models, name="study-models"),
    path(f"{S}models/score-sets/", models.score_sets, name="study-score-sets"),
    path(f"{S}models/comparisons/<int:pk>/depth/<slug:name>/", depth.section, name="study-depth"),
    path(f"{S}models/score/", models.score, name="study-score"),
    path(f"{S}models/compare/", models.compare, name="study-compare"),
    path(f"{S}models/comparisons/<int:pk>/", models.comparison, name="study-comparison"),
    path(f"{S}models/comparisons/<int:pk>.json", models.comparison_json, name="study-comparison-json"),
    path(
        f"{S}models/comparisons/<int:pk>/figures/<slug:name>.<slug:form>",
        figures.comparison_figure,
        name="study-comparison-figure",
    ),
]
