"""Who evaluates blocks: tiles, threads, generated code, the memory budget."""
