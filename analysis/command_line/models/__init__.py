"""Commands on language models: training, scores, comparisons, leaderboards."""
