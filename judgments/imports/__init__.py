"""Import of judgments collected elsewhere: readers, matching and storage."""
