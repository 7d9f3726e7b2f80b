"""Which rows an analysis uses: plans of named steps, applied as masks."""
