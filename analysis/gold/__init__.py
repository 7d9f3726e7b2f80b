"""Gold labels, and the files of a release: tables, codebook, card."""
