"""Upper bounds for models: human and noise ceilings of a comparison."""
