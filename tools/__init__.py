"""Commands of `make`: message catalogues and the tutorial page."""
