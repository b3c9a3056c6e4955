"""Why a kernel is one: facts, rules and derivations; and witnesses where it is not."""
