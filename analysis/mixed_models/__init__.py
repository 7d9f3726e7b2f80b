"""Linear and logistic models with crossed random effects."""
