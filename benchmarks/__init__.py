"""Programs that measure, in folders by subject; ``docs/benchmarks.md`` has each figure with its command."""
