"""Gold releases: options, build, freeze, description and storage."""
