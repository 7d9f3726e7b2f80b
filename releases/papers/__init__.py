"""Tables and figures of four papers from the data at hand, beside the published numbers."""
