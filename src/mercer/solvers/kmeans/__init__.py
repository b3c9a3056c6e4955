"""Lloyd's steps, from sums per cluster."""
