"""Where rows come from when they do not come as an array: files, memory maps, iterables of batches."""

from mercer.sources.base import Batch, Source

__all__ = ["Batch", "Source"]
