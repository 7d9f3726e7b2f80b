"""Stored comparisons of models with people, their figures and the leaderboard."""
