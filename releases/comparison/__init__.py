"""Stored comparisons of models with humans, their figures and the leaderboard."""
