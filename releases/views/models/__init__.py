"""Pages of scored models, comparisons and leaderboards."""
