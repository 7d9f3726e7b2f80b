"""Programs that write, run and check the manual's pages."""
