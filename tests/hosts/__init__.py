"""Several hosts that share a database, a broker and a storage."""
