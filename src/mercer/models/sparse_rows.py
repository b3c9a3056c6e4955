"""Compressed rows of SciPy in files: three tensors and a shape, checked to the last position."""

from __future__ import annotations

from typing import Any

from numpy import signedinteger
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.models.entry import Fields, made
from mercer.models.refusing import refuse

Places = NDArray[signedinteger[Any]]


def _taken(rows: csr_array) -> Fields:
    return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": tuple(map(int, rows.shape))}


def _made(fields: Fields) -> csr_array:
    """Compressed rows; index arrays are used as they are."""
    shape = fields["shape"]
    arrays = fields["data"], fields["indices"], fields["indptr"]
    if any(array.ndim != 1 for array in arrays) or min(shape) < 0 or len(fields["indptr"]) != shape[0] + 1:
        refuse("sound sparse rows", f"got arrays of shapes {[array.shape for array in arrays]} for {shape}")
    found = csr_array(arrays, shape=shape)
    found.check_format(full_check=True)
    if found.indices.dtype != fields["indices"].dtype or not found.has_canonical_format:
        refuse("sorted sparse rows with the shortest positions", "got others")
    return found


HINTS = {"data": NDArray[Any], "indices": Places, "indptr": Places, "shape": tuple[int, int]}
SPARSE_ROWS = made(csr_array, HINTS, _taken, _made)
