"""Reliability of judgments: chance-corrected agreement, ICC, split halves and noise ceilings."""
