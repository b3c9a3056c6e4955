"""What every learner makes of its input: validated rows, labels and weights, and the kernel's view of them."""
