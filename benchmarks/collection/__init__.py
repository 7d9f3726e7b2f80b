"""Participants and their answers: load, other systems, recruitment, the first trial, response times."""
