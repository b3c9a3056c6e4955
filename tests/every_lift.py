"""Every lift that `mercer.lifts` exports, and instances of each for the suites that all of them meet."""

import importlib
import inspect
import pkgutil

from mercer import kernels as k
from mercer import lifts
from mercer.lifts.base import Lift
from mercer.lifts.concatenation import Concatenation
from mercer.lifts.exact import Exact
from mercer.lifts.formulas import Formulas
from mercer.lifts.fourier import RandomFourier
from mercer.lifts.fourier_grid import FourierGrid
from mercer.lifts.monomials import Monomials
from mercer.lifts.nystrom import Nystrom
from mercer.lifts.parabolic import Parabolic
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Powers
from mercer.lifts.product import Product
from mercer.lifts.radial_basis import RadialBasis
from mercer.lifts.scaled import Scaled
from mercer.lifts.sketch import Sketch
from mercer.lifts.subsets import Subsets
from mercer.lifts.trigonometric import Trigonometric

SEVERAL = {
    Concatenation: [Polynomial() + Trigonometric(), Parabolic() + Nystrom(n_components=5), RandomFourier() + Exact()],
    Exact: [
        Exact(),
        Exact("linear**2 + 1"),
        Exact("0.5*linear + polynomial(degree=3)"),
        Exact("linear.after([[1, 0, 0], [0, 1, 1]])"),
        Exact("linear.on([1])*cosine + trigonometric"),
        Exact(k.Subsets() * k.Powers(2)),
        Exact("parabolic.normalized()"),
        Exact("linear.scaled([1, 2, 3])**2"),
        Exact("trigonometric.after([[1, 2, 0], [0, 1, 1]])"),
    ],
    Formulas: [
        Formulas(),
        Formulas(["x1", "x2", "x1^2 + 2*x2^2"]),
        Formulas(("[1, x1, x2, x3, x1 x2, x1 x3, x2 x3, x1 x2 x3]",)),
        Formulas(["exp(-|x|^2/50)", "min(x1, x2)", "x3/2 - 1", "sqrt(2) (x1 - x3)^2"]),
    ],
    FourierGrid: [FourierGrid(epsilon=1e-3), FourierGrid("matern(nu=2.5)", n_components=101)],
    Monomials: [Monomials(), Monomials(3, include_bias=False), Monomials((2, 3))],
    Nystrom: [
        Nystrom(),
        Nystrom("polynomial(degree=3)", n_components=4),
        Nystrom("min + 1", n_components=6, landmarks="uniform"),
        Nystrom(k.Laplace(2.0), n_components=6, landmarks="kmeans"),
        Nystrom("matern(nu=1.5)*linear", landmarks=[[0.1, 0.2, 0.3], [1.0, -2.0, 3.0]]),
    ],
    Polynomial: [Polynomial(), Polynomial(3, 0.0), Polynomial(5, 2.5), Polynomial(2, interaction_only=True)],
    Powers: [Powers(), Powers(5)],
    Product: [
        Polynomial() * Trigonometric(),
        Parabolic() * Nystrom(n_components=5),
        Powers(2) * (Polynomial() + 0.5 * Subsets()),
    ],
    RadialBasis: [
        RadialBasis(n_components=7),
        RadialBasis("random", 5, lengthscale=2.0),
        RadialBasis("grid", 27, lengthscale=1.0),
        RadialBasis([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]], lengthscale=1.5),
    ],
    RandomFourier: [
        RandomFourier(),
        RandomFourier("laplace", 40, form="offset", sampling="iid"),
        RandomFourier("gaussian(0.7)*matern(nu=1.5) + 2*product_laplace", 64, sampling="qmc"),
        RandomFourier("gaussian.on([0, 2])", epsilon=0.3),
        RandomFourier("gaussian", form="offset", epsilon=0.4, error="distance", center=False),
    ],
    Scaled: [-0.5 * Polynomial(), 3 * Nystrom(n_components=5), 2 * (Parabolic() * Powers())],
    Sketch: [Sketch(), Sketch("0.5*polynomial(degree=4, offset=2)", 60, method="tensor"), Sketch("linear", 2)],
    Subsets: [Subsets(), Subsets(2), Subsets(include_bias=False)],
    Trigonometric: [Trigonometric(), Trigonometric(3, period=1.7)],
}
"""Instances for data of three columns, of classes whose default is not enough; others are tried with their defaults."""


def exported_lifts() -> set[type[Lift]]:
    """Every class that `mercer.lifts` exports and that can be built."""
    found = {
        one for one in (getattr(lifts, name) for name in dir(lifts)) if isinstance(one, type) and issubclass(one, Lift)
    }
    return {one for one in found if not inspect.isabstract(one)}


INSTANCES = {
    cls: SEVERAL[cls] if cls in SEVERAL else [cls()]
    for cls in sorted(exported_lifts() - {lifts.Counts}, key=lambda cls: cls.__name__)  # that one takes no numbers
}


FEW_COLUMNS = {FourierGrid}
"""Those that take no more than three columns."""


def concrete_lifts() -> set[type[Lift]]:
    """Every class of the package that can be built, exported or not."""
    for module in pkgutil.iter_modules(lifts.__path__, "mercer.lifts."):
        importlib.import_module(module.name)
    found, waiting = set(), [Lift]
    while waiting:
        cls = waiting.pop()
        waiting.extend(cls.__subclasses__())
        if cls.__module__.startswith("mercer.lifts.") and not inspect.isabstract(cls):
            found.add(cls)
    return found


def text_of(lift) -> str:
    """A lift in one line, to name a test by."""
    return "".join(repr(lift).split())
