"""Read-only admin of plans, deviations, releases, scoring runs and comparisons."""

from django.contrib import admin

from experiments.admin import ReadOnly
from releases import models


@admin.register(models.ExclusionPlan)
class PlanAdmin(ReadOnly):
    """Exclusion plans by version."""

    list_display = ["name", "version", "experiment", "author", "locked_before_first_response", "created_at"]
    list_filter = ["locked_before_first_response"]
    search_fields = ["name", "experiment__title", "experiment__slug", "sha256"]
    list_select_related = ["experiment", "author"]


@admin.register(models.Exclusion)
class ExclusionAdmin(ReadOnly):
    """The masks of plans."""

    list_display = ["plan", "session", "trial", "step", "reason"]
    list_filter = ["step"]
    search_fields = ["plan__name", "session__participant__pseudonym", "reason"]
    list_select_related = ["plan", "session", "trial"]
    show_full_result_count = False


@admin.register(models.DeviationReason)
class DeviationReasonAdmin(ReadOnly):
    """Reasons of deviations from the frozen plan, every version."""

    list_display = ["experiment", "key", "text", "author", "created_at"]
    search_fields = ["experiment__title", "experiment__slug", "key", "text"]
    list_select_related = ["experiment", "author"]


@admin.register(models.Release)
class ReleaseAdmin(ReadOnly):
    """Gold releases."""

    list_display = ["experiment", "number", "title", "state", "sha256", "created_by", "created_at"]
    list_filter = ["state"]
    search_fields = ["experiment__title", "experiment__slug", "title", "sha256"]
    list_select_related = ["experiment", "created_by"]


@admin.register(models.ScoringRun)
class RunAdmin(ReadOnly):
    """Models scored over materials."""

    list_display = [
        "name",
        "model",
        "method",
        "state",
        "n_sentences",
        "n_missing",
        "material_set",
        "created_at",
    ]
    list_filter = ["state", "method"]
    search_fields = ["name", "model", "revision", "material_set__name"]
    list_select_related = ["material_set"]


@admin.register(models.ScorerSpec)
class ScorerAdmin(ReadOnly):
    """Specifications of scorers, by which scores are cached."""

    list_display = ["spec_id", "spec", "software", "sentences_per_s", "created_at"]
    search_fields = ["spec_id"]


@admin.register(models.ScoreShard)
class ShardAdmin(ReadOnly):
    """Shards of scoring runs."""

    list_display = ["number", "scorer", "state", "n_sentences", "attempts", "lease_until", "seconds", "error"]
    list_filter = ["state"]
    search_fields = ["scorer__spec_id", "error"]
    list_select_related = ["scorer"]
    show_full_result_count = False


@admin.register(models.SentenceScore)
class ScoreAdmin(ReadOnly):
    """Scores of sentences."""

    list_display = ["run", "sentence", "score", "logprob", "n_tokens"]
    search_fields = ["run__name", "sentence__key"]
    list_select_related = ["run", "sentence"]
    show_full_result_count = False


@admin.register(models.Comparison)
class ComparisonAdmin(ReadOnly):
    """Comparisons of models with participants."""

    list_display = ["title", "release", "created_by", "created_at"]
    search_fields = ["title", "release__experiment__title", "release__experiment__slug"]
    list_select_related = ["release__experiment", "created_by"]
