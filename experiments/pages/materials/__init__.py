"""Pages of material sets."""
