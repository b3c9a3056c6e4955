"""How a kernel is evaluated on tables: which code, in which precision."""
