"""Downloads of judgments that are ready for analysis, and snippets that read them in R and pandas."""
