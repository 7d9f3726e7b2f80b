"""Readers of material files, one module per format; ``detect`` chooses between them."""
