"""Evaluation of blocks: tiles, threads, generated code, the memory budget."""
