"""The sections of a study report."""
