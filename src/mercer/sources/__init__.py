"""Where rows come from when they do not come as an array: files, memory maps, iterables of batches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.sources.arrays import Arrays as Arrays
    from mercer.sources.base import Batch as Batch
    from mercer.sources.base import Source as Source
    from mercer.sources.batches import Batches as Batches
    from mercer.sources.coerce import source_of as source_of
    from mercer.sources.parquet import Parquet as Parquet
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Arrays": "arrays",
            "Batch": "base",
            "Batches": "batches",
            "Parquet": "parquet",
            "Source": "base",
            "source_of": "coerce",
        },
    )
