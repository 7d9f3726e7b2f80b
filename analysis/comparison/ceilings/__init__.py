"""How well a model can do at best: human and noise ceilings of a comparison."""
