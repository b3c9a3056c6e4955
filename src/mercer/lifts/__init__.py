"""phi(x): feature maps as scikit-learn transformers, each tied to the kernel that it induces or approximates."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.lifts.base import Lift as Lift
    from mercer.lifts.certificate import Certificate as Certificate
    from mercer.lifts.concatenation import Concatenation as Concatenation
    from mercer.lifts.counts import Counts as Counts
    from mercer.lifts.equality import Equality as Equality
    from mercer.lifts.exact import Exact as Exact
    from mercer.lifts.exact import lift as lift
    from mercer.lifts.formulas import Formulas as Formulas
    from mercer.lifts.fourier import RandomFourier as RandomFourier
    from mercer.lifts.fourier_grid import FourierGrid as FourierGrid
    from mercer.lifts.monomials import Monomials as Monomials
    from mercer.lifts.nystrom import Nystrom as Nystrom
    from mercer.lifts.parabolic import Parabolic as Parabolic
    from mercer.lifts.polynomial import Polynomial as Polynomial
    from mercer.lifts.powers import Powers as Powers
    from mercer.lifts.product import Product as Product
    from mercer.lifts.radial_basis import RadialBasis as RadialBasis
    from mercer.lifts.scaled import Scaled as Scaled
    from mercer.lifts.sketch import Sketch as Sketch
    from mercer.lifts.subsets import Subsets as Subsets
    from mercer.lifts.trigonometric import Trigonometric as Trigonometric
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Certificate": "certificate",
            "Concatenation": "concatenation",
            "Counts": "counts",
            "Equality": "equality",
            "Exact": "exact",
            "Formulas": "formulas",
            "FourierGrid": "fourier_grid",
            "Lift": "base",
            "Monomials": "monomials",
            "Nystrom": "nystrom",
            "Parabolic": "parabolic",
            "Polynomial": "polynomial",
            "Powers": "powers",
            "Product": "product",
            "RadialBasis": "radial_basis",
            "RandomFourier": "fourier",
            "Scaled": "scaled",
            "Sketch": "sketch",
            "Subsets": "subsets",
            "Trigonometric": "trigonometric",
            "lift": "exact",
        },
    )
