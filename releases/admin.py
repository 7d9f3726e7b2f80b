"""Read-only admin of plans, deviations, releases, scoring runs and comparisons."""

from experiments.admin import register_read_only
from releases import models

register_read_only(
    {
        models.ExclusionPlan: {
            "list_display": [
                "name",
                "version",
                "experiment",
                "author",
                "locked_before_first_response",
                "created_at",
            ],
            "list_filter": ["locked_before_first_response"],
            "search_fields": ["name", "experiment__title", "experiment__slug", "sha256"],
        },
        models.Exclusion: {
            "list_display": ["plan", "session", "trial", "step", "reason"],
            "list_filter": ["step"],
            "search_fields": ["plan__name", "session__participant__pseudonym", "reason"],
        },
        models.DeviationReason: {
            "list_display": ["experiment", "key", "text", "author", "created_at"],
            "search_fields": ["experiment__title", "experiment__slug", "key", "text"],
        },
        models.Release: {
            "list_display": ["experiment", "number", "title", "state", "sha256", "created_by", "created_at"],
            "list_filter": ["state"],
            "search_fields": ["experiment__title", "experiment__slug", "title", "sha256"],
        },
        models.ScoringRun: {
            "list_display": [
                "name",
                "model",
                "method",
                "state",
                "n_sentences",
                "n_missing",
                "material_set",
                "created_at",
            ],
            "list_filter": ["state", "method"],
            "search_fields": ["name", "model", "revision", "material_set__name"],
        },
        models.ScorerSpec: {
            "list_display": ["spec_id", "spec", "software", "sentences_per_s", "created_at"],
            "search_fields": ["spec_id"],
        },
        models.ScoreShard: {
            "list_display": [
                "number",
                "scorer",
                "state",
                "n_sentences",
                "attempts",
                "lease_until",
                "seconds",
                "error",
            ],
            "list_filter": ["state"],
            "search_fields": ["scorer__spec_id", "error"],
        },
        models.SentenceScore: {
            "list_display": ["run", "sentence", "score", "logprob", "n_tokens"],
            "search_fields": ["run__name", "sentence__key"],
        },
        models.Comparison: {
            "list_display": ["title", "release", "created_by", "created_at"],
            "search_fields": ["title", "release__experiment__title", "release__experiment__slug"],
            "list_select_related": ["release__experiment", "created_by"],
        },
    }
)
