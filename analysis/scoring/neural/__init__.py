"""Neural language models; torch is imported when a model is opened, not before."""
