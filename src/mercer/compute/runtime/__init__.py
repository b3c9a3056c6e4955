"""Threads, memory, interruption, and LAPACK without the GIL."""
