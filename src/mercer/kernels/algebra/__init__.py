"""The rules that keep a kernel a kernel, one node per rule."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.kernels.algebra.after import After as After
    from mercer.kernels.algebra.exp import Exp as Exp
    from mercer.kernels.algebra.normalized import Normalized as Normalized
    from mercer.kernels.algebra.on import On as On
    from mercer.kernels.algebra.operations import add as add
    from mercer.kernels.algebra.operations import divide as divide
    from mercer.kernels.algebra.operations import multiply as multiply
    from mercer.kernels.algebra.operations import raise_to as raise_to
    from mercer.kernels.algebra.operations import refuse_difference as refuse_difference
    from mercer.kernels.algebra.power import Power as Power
    from mercer.kernels.algebra.product import Product as Product
    from mercer.kernels.algebra.scaled import Scaled as Scaled
    from mercer.kernels.algebra.sum import Sum as Sum
    from mercer.kernels.algebra.weighted import Weighted as Weighted
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "After": "after",
            "Exp": "exp",
            "Normalized": "normalized",
            "On": "on",
            "Power": "power",
            "Product": "product",
            "Scaled": "scaled",
            "Sum": "sum",
            "Weighted": "weighted",
            "add": "operations",
            "divide": "operations",
            "multiply": "operations",
            "raise_to": "operations",
            "refuse_difference": "operations",
        },
    )
