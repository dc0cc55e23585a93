"""Parameters of every stage, presets by technology, scores."""
