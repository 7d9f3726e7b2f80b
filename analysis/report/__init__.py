"""The report of a study: its numbers from the release alone, their words, and the replication package."""
