"""What files know of each lift: its parameters, and what fit has found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.kernels import Kernel
from mercer.kernels.objects.store import Store
from mercer.kernels.points import Points
from mercer.lifts.base import Lift
from mercer.lifts.concatenation import Concatenation
from mercer.lifts.counts import Counts
from mercer.lifts.exact import Exact
from mercer.lifts.expansion import Expansion
from mercer.lifts.fourier import RandomFourier
from mercer.lifts.monomials import Monomials
from mercer.lifts.nystrom import Nystrom
from mercer.lifts.parabolic import Parabolic
from mercer.lifts.parts import Part
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Powers
from mercer.lifts.product import Product
from mercer.lifts.radial_basis import RadialBasis
from mercer.lifts.scaled import Scaled
from mercer.lifts.sketch import Sketch, _Power
from mercer.lifts.splitting import Division
from mercer.lifts.subsets import Subsets
from mercer.lifts.tensor_sketch import TensorSketch
from mercer.lifts.trigonometric import Trigonometric
from mercer.models import invariants, lift_invariants
from mercer.models.entry import Entry, Hints
from mercer.models.estimators import Attributes, Parameters, estimator
from mercer.solvers import Solver

Number = None | bool | int | float | str | np.generic
Setting = Number | Kernel | Lift | Solver | NDArray[Any] | list[Any] | tuple[Any, ...] | dict[Any, Any] | csr_array
"""What a parameter may be."""
Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
Names = NDArray[np.object_]
Table = NDArray[Any] | csr_array


def _lift(kind: Any, fitted: Hints, check: Any = None) -> Entry:
    def wrong(one: Any) -> str:
        return invariants.learner(one) or ("" if check is None else check(one))

    found = Attributes({"n_features_in_": int, **fitted}, {"feature_names_in_": Names})
    return estimator(kind, Parameters(Setting), found).checked(wrong)


LIFTS = (
    *(_lift(kind, {"first_": Lift, "second_": Lift}, lift_invariants.composed) for kind in (Concatenation, Product)),
    _lift(Scaled, {"lift_": Lift}, lift_invariants.composed),
    *(
        _lift(kind, {"expansion_": Expansion}, lift_invariants.expanded)
        for kind in (Monomials, Parabolic, Polynomial, Powers, Subsets)
    ),
    _lift(Trigonometric, {}),
    _lift(Exact, {"kernel_": Kernel, "_part": Part}, lift_invariants.exact),
    _lift(Counts, {"kernel_": Kernel, "_known": Points, "n_components_": int}, lift_invariants.counts),
    _lift(RadialBasis, {"centers_": NDArray[np.floating[Any]], "lengthscale_": float}, lift_invariants.radial_basis),
    _lift(
        Nystrom,
        {
            "kernel_": Kernel | None,
            "landmarks_": Table | None,
            "_stores": tuple[Store | None, ...],
            "landmark_indices_": Whole | None,
            "factor_": Floats,
            "n_components_": int,
        },
        lift_invariants.nystrom,
    ),
    _lift(
        RandomFourier,
        {
            "kernel_": Kernel,
            "n_components_": int,
            "frequencies_": Floats,
            "offsets_": Floats | None,
            "mass_": float,
            "center_": Floats,
        },
        lift_invariants.fourier,
    ),
    _lift(
        Sketch,
        {
            "kernel_": Kernel,
            "_power": _Power,
            "_division": Division,
            "counts_": tuple[int, ...],
            "n_components_": int,
            "direction_": Floats,
            "parts_": dict[int, Expansion | TensorSketch],
        },
        lift_invariants.sketch,
    ),
)
