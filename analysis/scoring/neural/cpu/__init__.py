"""The CPU back end of neural scoring: packed layers, tiled head, activations and tree attention."""
