"""The CPU back end of neural scoring: packed layers and the tiled head."""
