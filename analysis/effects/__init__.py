"""Tests and effect sizes of contrasts between conditions, factorial designs included."""
