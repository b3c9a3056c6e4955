"""Least squares on a line for kernels with a state: exact, in time and memory that grow as the number of rows."""
