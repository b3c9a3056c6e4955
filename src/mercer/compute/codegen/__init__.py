"""From a formula to compiled loops over tiles."""
