"""Scoring runs: models, shards, cost, cache and stored scores."""
