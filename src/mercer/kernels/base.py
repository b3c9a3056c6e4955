"""The kernel: one immutable tree, and what can be asked of it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from numpy.typing import ArrayLike, NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import KernelError, explains_parameters, speaking
from mercer.html import Markup, Shown
from mercer.kernels import parameters
from mercer.kernels.domain import REALS, Domain
from mercer.kernels.evaluation import evaluate as evaluation
from mercer.kernels.evaluation.distance import distance as kernel_distance
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import (
    MEDIAN,
    check_positive,
    check_undeclared,
    integer,
    length,
    nonnegative,
    number,
    positive,
)
from mercer.kernels.law import Law
from mercer.kernels.lift_builder import Features, LiftBuilder, NotFiniteError
from mercer.kernels.median import median_length, merged, weights_from
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs, row_distances
from mercer.kernels.points import Column, Points
from mercer.kernels.proof.derivation import Derivation
from mercer.kernels.proof.judgement import Fact, Judgement, Situation, judge_by_facts

if TYPE_CHECKING:
    from mercer.kernels.processes import StateSpace

MAX_DEPTH = 100
"""Levels of a tree: readings call themselves once a level, several times over, and Python's stack has 1,000 places."""
MAX_NODES = 1_000_000
"""Nodes of a tree, shared parts as often as they stand in it: fifty times k + k has more than anybody can visit."""
PythonFunction = Callable[[Any, Any], Any]
"""A function of two points or of two tables, as users write it."""
METHODS_OF_LIFTS = frozenset({"fit", "fit_transform", "get_feature_names_out", "transform"})
ATOM, POWER, PRODUCT, SUM = 3, 2, 1, 0
"""How tightly a text binds: a child that binds less than its place gets parentheses."""


@dataclass_transform(frozen_default=True, field_specifiers=(field, integer, length, nonnegative, number, positive))
@dataclass(frozen=True, repr=False)
class Kernel(Shown, ABC):
    """A symmetric function k(x, z) of two points, as a node of an expression tree.

    A subclass states its fields, as a dataclass does, and is frozen, hashable and equal by value. A new leaf
    starts from a family (`Radial`, `Dot`, `Coordinate`) and needs one method, its profile.

    Cost: that of its family, whose docstring says it; k(X, Z) holds the result, and `mercer.operators.Gram` does not.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = 2 * Gaussian(0.5) + Linear()
    >>> print(k, "|", k.domain, "|", mercer.prove(k).status)
    2.0*gaussian(lengthscale=0.5) + linear | the reals | proven
    >>> k([[0.0], [1.0]]).round(3), k.diagonal([[0.0], [1.0]])
    (array([[2.   , 0.271],
           [0.271, 3.   ]]), array([2., 3.]))
    """

    name: ClassVar[str]
    """The name in texts: the class's name in small letters, words parted by underscores."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names that texts may use."""
    formula: ClassVar[str] = ""
    """k(x, z) in plain text."""
    dense_only: ClassVar[bool] = False
    """Whether it needs all coordinates, so that sparse tables are refused."""

    of_numbers: ClassVar[bool] = True
    """Whether it looks at rows of numbers, so that other columns are refused."""
    depth: ClassVar[int] = 1
    """Levels of the tree; a composite sets its own when it is built."""
    nodes: ClassVar[int] = 1
    """Nodes of the tree, likewise."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        dataclass(frozen=True, repr=False)(cls)
        cls.__init__ = explains_parameters(cls.__init__)  # type: ignore[method-assign]
        cls.__hash__ = Kernel.__hash__  # type: ignore[method-assign]  # dataclass writes its own
        stated = vars(cls).keys()
        before = [getattr(super(cls, cls), name, None) for name in {"profile", "term"} & stated]
        changed = any(each and not getattr(each, "__isabstractmethod__", False) for each in before)
        if changed and not {"gap", "evaluate_gap"} & stated:
            cls.evaluate_gap = Kernel.evaluate_gap  # type: ignore[method-assign]  # the parent's is of its own formula

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            check = item.metadata.get("check", check_undeclared)
            object.__setattr__(self, item.name, check(type(self).__name__, item.name, value))
        children = self.children
        if children:
            self._measure(children)
            parameters.settle(*children)

    def _measure(self, children: tuple[Kernel, ...]) -> None:
        """Levels and nodes, refused before anything walks through too many of them."""
        depth, nodes = 1 + max(child.depth for child in children), 1 + sum(child.nodes for child in children)
        if depth > MAX_DEPTH:
            remedy = "Build a flatter tree: a sum or a product of many kernels is one level."
            raise KernelError(
                f"{type(self).__name__}: a kernel nests at most {MAX_DEPTH} levels, got {depth}. {remedy}"
            )
        if nodes > MAX_NODES:
            remedy = "Write 2 * k for k + k, and k**2 for k * k."
            raise KernelError(
                f"{type(self).__name__}: a kernel has at most {MAX_NODES:,} nodes, got {nodes:,}. {remedy}"
            )
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "nodes", nodes)

    # -- readings that a node answers -----------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, pairs: Pairs) -> Block:
        """k for a block of pairs.

        Parameters
        ----------
        pairs : Pairs
            In float64, in high precision, or as symbols of a formula.

        Returns
        -------
        Block
        """

    @abstractmethod
    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        """k(x, x) for each point.

        Parameters
        ----------
        points : Points
            The points.

        Returns
        -------
        array of shape (n,)
        """

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        """k(x, x) + k(z, z) - 2 k(x, z) of pairs of near points, of which `distance` would lose digits otherwise.

        Parameters
        ----------
        pairs : NearPairs
            The pairs, with their differences.

        Returns
        -------
        FeatureGap or None
            None where no formula is known: then `distance` evaluates the kernel with 50 digits.
        """
        return pairs.counted(self) if self.kinds else None

    def latex(self, x: str = "x", z: str = "z") -> str:
        """The formula in LaTeX; a kernel without one is shown by its name.

        Parameters
        ----------
        x : str, default="x"
            Name of the first argument.
        z : str, default="z"
            Name of the second argument.

        Returns
        -------
        str
        """
        name = self.name.replace("_", r"\_")
        return rf"\mathrm{{{name}}}({x}, {z})"

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        """How the exact features are built, where finitely many suffice; else a NotFiniteError.

        Parameters
        ----------
        build : LiftBuilder
            Its methods give features of simple kernels, and compose them: return what they return.

        Returns
        -------
        Features
        """
        raise NotFiniteError(self)

    def judge(self, situation: Situation) -> Judgement:
        """Whether a known fact, or for composites a rule, shows that this is a kernel.

        Parameters
        ----------
        situation : Situation
            The domain and the number of columns.

        Returns
        -------
        Judgement
        """
        return judge_by_facts(self, situation)

    @property
    def children(self) -> tuple[Kernel, ...]:
        """The kernels from which this one is composed."""
        return ()

    @property
    def domain(self) -> Domain:
        """The set of points on which the kernel is stated; `prove` says whether it is one there."""
        return REALS

    @property
    def radial(self) -> bool:
        """Whether k depends on the Euclidean distance `|x - z|` alone."""
        return False

    @property
    def divisible(self) -> bool:
        """Whether k ** p is a kernel for every p > 0, fractions included (infinitely divisible)."""
        return False

    def facts(self) -> tuple[Fact, ...]:
        """The theorems about this kernel: where it is one, and why.

        Returns
        -------
        tuple of Fact
        """
        return ()

    def objection(self) -> str:
        """Why this is not a kernel beyond its `facts`; empty where nothing is known.

        Returns
        -------
        str
        """
        return ""

    def law(self, d: int) -> Law | None:
        """The law of the frequencies whose waves average to this kernel on R^d; None where none is known.

        Parameters
        ----------
        d : int
            The number of columns.

        Returns
        -------
        Law or None
        """
        return None

    def state_space(self) -> StateSpace:
        """The kernel of one column as a sum of processes with a state, and of what is none: here it is itself.

        Returns
        -------
        StateSpace
        """
        from mercer.kernels.processes import StateSpace  # of one column alone

        return StateSpace(others=(self,))

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        """The weights of waves on a grid of frequencies that add up to this kernel, and how far they may be off.

        None where no such weights are known: the kernel does not depend on x - z alone, falls too slowly, or looks at
        columns by their names.

        Parameters
        ----------
        grid : FrequencyGrid
            Frequencies, periods and the largest differences of rows, one per column.

        Returns
        -------
        WaveWeights or None
        """
        return None

    @property
    def needed(self) -> frozenset[Column] | None:
        """The columns at which the kernel looks; None for all of them."""
        return None

    @property
    def kinds(self) -> dict[Column | None, str]:
        """The kind of structured data of each column (strings, say); under None, that of all columns."""
        found: dict[Column | None, str] = {}
        for child in self.children:
            for column, kind in child.kinds.items():
                if found.setdefault(column, kind) != kind:
                    raise KernelError(f"{self}: column {column!r} cannot hold both {found[column]} and {kind}.")
        return found

    def counterexample(self) -> tuple[Any, ...]:
        """Objects that are known to show that this is not a kernel, for `prove`; empty where none are known.

        Returns
        -------
        tuple
        """
        return ()

    @property
    def width(self) -> int | None:
        """The number of columns that the data must have; None where any will do."""
        return None

    def inner_points(self, points: Points) -> Points:
        """The points as the children see them.

        Parameters
        ----------
        points : Points
            The points of this node.

        Returns
        -------
        Points
        """
        return points

    def check(self, X: Any) -> None:
        """Refuse data on which this is not a kernel: outside its domain, or of too many columns.

        The message names the column and the value. Evaluation itself refuses only data outside the domain.

        Parameters
        ----------
        X : array or table
            The rows.
        """
        evaluation.check(self, X)

    @property
    def max_dimension(self) -> int | None:
        """The largest number of columns for which this is proven to be a kernel: None for every one, 0 for none."""
        domain = self.domain
        if type(self).judge is Kernel.judge:  # facts alone, without the words of a derivation
            most = [f.max_dimension for f in self.facts() if f.domain is domain or domain.within(f.domain)]
            return None if None in most else max((d for d in most if d is not None), default=0)
        verdict = Derivation().conclude(self, Situation(domain))
        return verdict.max_dimension if verdict.proven else 0

    # -- open numbers -----------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether a number of the tree is still to be found from data ("median")."""
        return getattr(self, "lengthscale", None) == MEDIAN or any(child.is_open for child in self.children)

    @property
    def has_lengthscale(self) -> bool:
        """Whether the tree has a lengthscale at all, a number or an open one."""
        return "lengthscale" in self.parameters() or any(child.has_lengthscale for child in self.children)

    def resolve(self, X: Any, weights: ArrayLike | None = None, stretch: float = 1.0) -> Kernel:
        """The kernel with its open numbers found from data.

        A lengthscale of "median" becomes the median distance of pairs of rows: to the last digit the same for every
        order of the rows, and for a row of weight 2 the same as for one that stands there twice. Above 2,000 different
        rows, it is that of a sample with a fixed seed. Cost: n log n d + m^2 d time (sparse: of a sparse product) with
        m = min(n, 2,000); memory for m^2 numbers, and for two copies of the rows.

        Parameters
        ----------
        X : array or table of n rows
            The data.
        weights : array of shape (n,) or None, default=None
            How often each row counts, finite and at least zero; None for once each.
        stretch : float, default=1.0
            A positive factor of each length that is found.

        Returns
        -------
        Kernel

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> Gaussian("median").resolve([[0.0], [1.0], [5.0]])
        Gaussian(lengthscale=4.0)
        >>> Gaussian("median").resolve([[0.0], [1.0], [5.0]], weights=[2, 2, 1], stretch=0.5)
        Gaussian(lengthscale=0.5)
        """
        return self.resolve_points(evaluation.read(self, X), weights, stretch) if self.is_open else self

    def resolve_points(self, points: Points, weights: ArrayLike | None = None, stretch: float = 1.0) -> Kernel:
        """The same for points that were already read.

        Parameters
        ----------
        points : Points
            Read and checked.
        weights : array of shape (n,) or None, default=None
            As in `resolve`.
        stretch : float, default=1.0
            As in `resolve`.

        Returns
        -------
        Kernel
        """
        if not self.is_open:
            return self
        factor = check_positive(evaluation.name_of(self), "stretch", stretch)
        # Equal rows are merged before a map moves them: it may round copies of a row differently.
        with speaking(evaluation.name_of(self)):
            counts = weights_from(weights, points.values.shape[0])
        return self._resolved(*merged(points, counts), factor)

    def _resolved(self, points: Points, weights: NDArray[Any], stretch: float) -> Kernel:
        if not self.is_open:
            return self
        if self.children:
            inner = self.inner_points(points)
            return self.with_children(tuple(child._resolved(inner, weights, stretch) for child in self.children))
        evaluation.check_values(self, points)
        found = median_length(type(self).__name__, points, weights, self._sampled_distances)
        return self.with_parameters({"lengthscale": stretch * found})

    def closed(self, lengthscale: float) -> Kernel:
        """The kernel with a number for each open lengthscale of the tree; other open numbers stay open.

        Parameters
        ----------
        lengthscale : float
            The number.

        Returns
        -------
        Kernel

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> print((Gaussian("median") * Linear()).closed(2.0))
        gaussian(lengthscale=2.0)*linear
        """
        if self.children:
            return self.with_children(tuple(child.closed(lengthscale) for child in self.children))
        own = self.parameters().get("lengthscale")
        return self.with_parameters({"lengthscale": lengthscale}) if own == MEDIAN else self

    def stretched(self, factor: float) -> Kernel:
        """The kernel with every lengthscale of the tree multiplied; open ones stay open.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        Kernel

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> print((Gaussian(2.0) * Linear()).stretched(3.0))
        gaussian(lengthscale=6.0)*linear
        """
        factor = check_positive(evaluation.name_of(self), "factor", factor)
        kernel = (
            self.with_children(tuple(child.stretched(factor) for child in self.children)) if self.children else self
        )
        own = self.parameters().get("lengthscale", MEDIAN)
        return kernel if own == MEDIAN else kernel.with_parameters({"lengthscale": factor * own})

    def _sampled_distances(self, values: Any) -> NDArray[Any]:
        """Those of a sample, made dense where the kernel needs all coordinates: lifts of it take sparse tables."""
        return self.distances(values.toarray() if self.dense_only and is_sparse(values) else values)

    def distances(self, values: NDArray[Any]) -> NDArray[Any]:
        """The pairwise distances of rows whose median becomes the lengthscale: one for i < j, in `pdist`'s order.

        Parameters
        ----------
        values : array of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n (n - 1) / 2,)
        """
        return row_distances(values)

    # -- evaluation with input validation -------------------------------------------------------------------------

    def __call__(self, X: Any, Z: Any = None) -> NDArray[Any]:
        """The matrix of k(x_i, z_j), or of k(x_i, x_j). Cost: n m d time (sparse: of a sparse product), n m numbers."""
        return evaluation.gram(self, X, Z)

    def diagonal(self, X: Any) -> NDArray[Any]:
        """The vector of k(x_i, x_i). Cost: n d time, n numbers.

        Parameters
        ----------
        X : array or table of n rows
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        return evaluation.diagonal(self, X)

    def distance(self, X: Any, Z: Any = None) -> NDArray[Any]:
        """The kernel distance sqrt(k(x, x) + k(z, z) - 2 k(x, z)) of all pairs; never NaN.

        Near points cost no digits: the relative error is at most 1e-12 for every kernel of the library on numbers, and
        for those composed of them. Where no formula is known, as for a profile of your own, numbers of 50 digits are
        taken for near points, at some 100 microseconds per pair and more; a Python function that takes floats alone
        keeps the rounding of its floats, and points far from each other that of k. Cost: that of k(X, Z), and for near
        points some 20 operations per pair and column more, in NumPy.

        Parameters
        ----------
        X : array or table of n rows
            The left rows.
        Z : array or table of m rows, or None, default=None
            The right rows; None for X.

        Returns
        -------
        array of shape (n, m)

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> Gaussian().distance([[0.0]], [[1e-9]])
        array([[1.e-09]])
        """
        return kernel_distance(self, X, Z)

    # -- composition: the rules that keep a kernel a kernel ---------------------------------------------------

    __array_ufunc__ = None  # so that a NumPy number times a kernel asks the kernel

    def __add__(self, other: object) -> Kernel:
        return algebra.add(self, other)

    def __radd__(self, other: object) -> Kernel:
        return algebra.add(other, self)

    def __mul__(self, other: object) -> Kernel:
        return algebra.multiply(self, other)

    def __rmul__(self, other: object) -> Kernel:
        return algebra.multiply(other, self)

    def __pow__(self, exponent: float) -> Kernel:
        return algebra.raise_to(self, exponent)

    def __truediv__(self, number: float) -> Kernel:
        return algebra.divide(self, number)

    def __sub__(self, other: object) -> Kernel:
        return algebra.refuse_difference(self, other)

    def __rsub__(self, other: object) -> Kernel:
        return algebra.refuse_difference(other, self)

    def __neg__(self) -> Kernel:
        return algebra.refuse_difference(0, self)

    def weighted(self, function: Callable[[NDArray[Any]], NDArray[Any]] | str) -> Kernel:
        """f(x) k(x, z) f(z).

        Parameters
        ----------
        function : callable or str
            It takes rows (n, d) and returns n numbers, or takes one string, graph or label; or the name of a function
            of one number, such as "exp"; or a formula, such as "x1^2 + x2".

        Returns
        -------
        Weighted
        """
        return algebra.Weighted(self, function)  # type: ignore[arg-type]

    def after(self, map: Any) -> Kernel:
        """k(g(x), g(z)).

        Parameters
        ----------
        map : array, list of str, callable, str or Lift
            g: a matrix (x becomes A x), formulas of the columns such as ["x1", "x1*x2"], a function of rows, the name
            of a function of each number ("log1p"), or a lift.

        Returns
        -------
        After
        """
        return algebra.After(self, map)

    def on(self, columns: Column | tuple[Column, ...] | list[Column]) -> Kernel:
        """k on some of the columns.

        Parameters
        ----------
        columns : int, str or list
            By position or name.

        Returns
        -------
        On
        """
        return algebra.On(self, columns)  # type: ignore[arg-type]

    def scaled(self, lengthscales: ArrayLike) -> Kernel:
        """k after each column was divided by its own lengthscale.

        Parameters
        ----------
        lengthscales : sequence of float
            One positive number per column.

        Returns
        -------
        Scaled
        """
        return algebra.Scaled(self, lengthscales)  # type: ignore[arg-type]

    def on_sphere(self, radius: float = 1.0) -> Kernel:
        """k of points on a sphere, given by latitude and longitude in degrees, in this order.

        The distance of two points is the straight one, through the sphere, so that every kernel stays one. With the
        radius of the earth, 6371.0088 km, lengthscales are kilometres.

        Parameters
        ----------
        radius : float, default=1.0
            Positive.

        Returns
        -------
        After

        Examples
        --------
        >>> from mercer.kernels import Laplace
        >>> k = Laplace(1000.0).on_sphere(6371.0088)
        >>> k([[48.2, 16.4]], [[52.5, 13.4]]).round(3)  # Vienna and Berlin, 524 km
        array([[0.593]])
        """
        r = "" if check_positive(type(self).__name__, "radius", radius) == 1.0 else f"{float(radius)!r} * "
        latitude, longitude = "pi * x1 / 180", "pi * x2 / 180"
        places = [f"cos({latitude}) * cos({longitude})", f"cos({latitude}) * sin({longitude})", f"sin({latitude})"]
        return self.after([r + place for place in places])

    def normalized(self) -> Kernel:
        """k(x, z) / sqrt(k(x, x) k(z, z)); 0 where k(x, x) is 0.

        Returns
        -------
        Normalized
        """
        return algebra.Normalized(self)

    # -- text -------------------------------------------------------------------------------------------------

    def write(self, python: bool) -> tuple[str, int]:
        """The text of this node, and how tightly it binds.

        Parameters
        ----------
        python : bool
            Whether as Python, or in the grammar of `mercer.parse`.

        Returns
        -------
        (str, int)
        """
        arguments = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self))
        if python:
            return f"{type(self).__name__}({arguments})", ATOM
        return (f"{self.name}({arguments})" if arguments else self.name), ATOM

    def write_inside(self, python: bool, place: int) -> str:
        """The text of this node, in parentheses where its place binds more tightly.

        Parameters
        ----------
        python : bool
            As in `write`.
        place : int
            How tightly the place binds.

        Returns
        -------
        str
        """
        text, binding = self.write(python)
        return text if binding >= place else f"({text})"

    def __str__(self) -> str:
        return self.write(python=False)[0]

    def __repr__(self) -> str:
        return self.write(python=True)[0]

    def _repr_latex_(self) -> str:
        return f"$k(x, z) = {self.latex()}$"

    def _html_pieces(self) -> Iterable[Markup]:
        from mercer.kernels.html import pieces  # proofs are of kernels: they need this class first

        return pieces(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A kernel and a lift may have one name: who asks the one for the other learns where that is."""
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in METHODS_OF_LIFTS:
                said += ": it is a kernel. Use mercer.lift(kernel, d), its features, or a lift of mercer.lifts."
            raise AttributeError(said, name=name, obj=self)

    # -- the tree, and scikit-learn's parameters -------------------------------------------------------------------

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        """The same node over other children.

        Parameters
        ----------
        children : tuple of Kernel
            The children.

        Returns
        -------
        Kernel
        """
        return self

    def parameters(self) -> dict[str, Any]:
        """The fields by name, as scikit-learn's searches address them.

        Returns
        -------
        dict
        """
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def with_parameters(self, changes: dict[str, Any]) -> Self:
        """The same node with some fields changed.

        Parameters
        ----------
        changes : dict
            Fields by name.

        Returns
        -------
        Self
        """
        return replace(self, **changes)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; those of children are called `child__name`.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of children are included.

        Returns
        -------
        dict
        """
        return parameters.get(self, deep)

    def set_params(self, **changes: Any) -> Kernel:
        """A kernel with some parameters changed; this one stays as it is.

        A copy that `sklearn.base.clone` has just made is filled in place, since scikit-learn's searches ignore
        what `set_params` returns.

        Parameters
        ----------
        **changes : object
            Parameters by name.

        Returns
        -------
        Kernel
        """
        return parameters.change(self, changes)

    def __sklearn_clone__(self) -> Kernel:
        return parameters.draft(self)

    def __hash__(self) -> int:
        parameters.settle(self)
        return hash((type(self), *(getattr(self, item.name) for item in fields(self))))


# The composites are kernels, so they can only be imported once Kernel exists.
from mercer.kernels import algebra  # noqa: E402

if TYPE_CHECKING:
    from mercer.kernels.waves import FrequencyGrid, WaveWeights
