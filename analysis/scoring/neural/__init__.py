"""Neural language models as scorers; torch is imported when a model is opened, not before."""
