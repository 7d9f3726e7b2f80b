"""Tokens, words and regions of scored sentences."""
