"""Materials as they come from linguists: read, understood and checked, before anything is stored."""
