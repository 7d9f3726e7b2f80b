"""REST API of judgments, and the session API of the trial engine."""
