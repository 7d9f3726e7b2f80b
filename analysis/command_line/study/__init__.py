"""Reports of the judgments of a study: options, and texts for a terminal."""
