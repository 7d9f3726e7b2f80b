"""Tags and filters of the researcher's pages."""
