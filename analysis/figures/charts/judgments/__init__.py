"""Figures of judgments: ratings, scale points, magnitudes, items, agreement and reliability."""
