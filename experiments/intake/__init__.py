"""Upload of files, and storage of material sets."""
