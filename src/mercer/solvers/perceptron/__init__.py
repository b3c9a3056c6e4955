"""Updates of perceptrons."""
