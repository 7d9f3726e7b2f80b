"""Plan: materials, designs, lists, studies and their recruitment (the researcher's side)."""
