"""What may be wrong with a fit: columns, rows, leaks, the solver."""
