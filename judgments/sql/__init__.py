"""Written-out SQL and compiled querysets, for what participants wait for."""
