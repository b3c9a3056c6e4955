"""The box-constrained quadratic programme of SVMs."""
