"""Pages of the concluding side."""
