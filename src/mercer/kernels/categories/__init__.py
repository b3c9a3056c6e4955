"""Kernels of labels: how often rows agree, how far apart ordered labels are, and numbers of which some are missing."""
