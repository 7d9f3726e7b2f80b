"""A running study: overview, live counters and drop-out."""
