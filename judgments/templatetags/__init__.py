"""Template filters of the pages of judgments."""
