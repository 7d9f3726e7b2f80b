"""Observe: participants, sessions, trials and judgments (the participant's side)."""
