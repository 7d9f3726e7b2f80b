"""Stimuli: what participants see, and what language models read, of a sentence."""
