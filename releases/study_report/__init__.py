"""The report of a study: request, facts, document and replication package."""
