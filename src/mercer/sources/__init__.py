"""Where rows come from when they do not come as an array: files, memory maps, iterables of batches."""

from mercer.sources.arrays import Arrays
from mercer.sources.base import Batch, Source
from mercer.sources.batches import Batches
from mercer.sources.coerce import source_of
from mercer.sources.parquet import Parquet

__all__ = ["Arrays", "Batch", "Batches", "Parquet", "Source", "source_of"]
