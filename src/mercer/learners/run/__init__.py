"""One fit as it runs: progress, limits, interruption, callbacks, checkpoints."""
