"""What other books and libraries call a parameter, its name here, and the formula between the two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

from mercer.guesses.spelling import nearest, plain

WIDTHS = "sigma s scale width bandwidth bw h length l ell ls lengthscale std"
MEANT: dict[str, str] = {
    "lengthscale": f"{WIDTHS} radius rho",
    "degree": "p d b power deg order exponent n",
    "exponent": "p power degree n",
    "offset": "coef0 c c0 r bias constant intercept const",
    "slope": "gamma a alpha scale kappa",
    "variance": "c value constantvalue constant scale amplitude sigma2 outputscale",
    "nu": "smoothness p order contamination outliers fraction",
    "shape": "alpha a power",
    "period": "p t periodicity wavelength",
    "order": "n degree b p nfrequencies frequencies",
    "smoothness": "k nu",
    "dimension": "d nfeatures q",
    "max_order": "order degree p k s maxdegree",
    "min_order": "mindegree",
    "k": "n p length order q degree ngram",
    "m": "mismatches",
    "length": "k n p order",
    "decay": "lambda lam lmbda weight",
    "ngrams": "n k ngram ngramrange",
    "iterations": "h k n niter depth height maxiter t niterations",
    "size": "k n",
    "alpha": "lam lambda lmbda lamb reg regularization regularizer regularisation ridge l2 weightdecay noise",
    "C": "c cost",
    "epsilon": "eps tube",
    "max_iter": "t epochs nepochs passes npasses niter numiter iterations niterations maxiterations steps maxepochs",
    "n_clusters": "k clusters numclusters ncomponents ncenters",
    "step": "stepsize learningrate lr eta eta0 s gamma",
    "tol": "tolerance eps epsilon",
    "preconditioner_rank": "rank",
    "n_components": "d k n q m b dim dimension rank nfeatures nlandmarks ncenters ncentroids nsamples components",
    "centers": "centroids c mu means",
    "n_landmarks": "ncomponents rank m landmarks inducing ninducing",
    "fit_intercept": "intercept bias",
    "random_state": "seed rng randomseed",
    "class_weight": "weights weight balanced classweights",
    "fit_inverse_transform": "inverse inversetransform",
    "combine": "average averaged averaging voted",
    "kernel": "k metric affinity kernelfunction",
    "memory_limit": "cachesize maxmemory memory",
    "time_limit": "timeout maxtime",
    "include_bias": "bias constant intercept",
    "function": "f",
    "map": "g phi lift",
    "lengthscales": "lengthscale sigma sigmas scales",
}
"""A parameter here, and plain names that mean it; of several parameters of a class its first one counts."""


class Formula(NamedTuple):
    """How the number of another convention becomes the number of a parameter here."""

    parameter: str
    text: str
    convert: Callable[[float], float]


SQUARED = Formula("lengthscale", "gamma = 1 / (2 lengthscale^2)", lambda gamma: 1 / math.sqrt(2 * gamma))
SHARP = Formula(
    "lengthscale", "exp(-(epsilon r)^2) has lengthscale = 1 / (sqrt(2) epsilon)", lambda e: 1 / (math.sqrt(2) * e)
)
RECIPROCAL = Formula("lengthscale", "gamma = 1 / lengthscale", lambda gamma: 1 / gamma)
ROOT = Formula("lengthscale", "gamma = 1 / lengthscale^2", lambda gamma: 1 / math.sqrt(gamma))
VARIANCE = Formula("lengthscale", "sigma2 = lengthscale^2", math.sqrt)
HALF = Formula("alpha", "sum (y - f(x))^2 + alpha |f|^2 has alpha = 1 / (2 C)", lambda c: 1 / (2 * c))
WHOLE = Formula("alpha", "alpha = 1 / C", lambda c: 1 / c)
LOSSES = Formula("C", "lambda / 2 |f|^2 + sum of losses has C = 1 / lambda", lambda penalty: 1 / penalty)
PENALTIES = ("lambda", "lam", "lmbda", "lamb", "alpha", "reg", "regularization", "regularisation", "penalty")
FORMULAS: dict[tuple[str, str], Formula] = {
    **{(owner, "gamma"): SQUARED for owner in ("Gaussian", "RadialBasis")},
    **{(owner, name): SHARP for owner in ("Gaussian", "RadialBasis") for name in ("epsilon", "eps")},
    **{(owner, "sigma2"): VARIANCE for owner in ("Gaussian", "RadialBasis")},
    **{(owner, "gamma"): RECIPROCAL for owner in ("Laplace", "ProductLaplace", "ExponentialChiSquared", "Ordinal")},
    **{(owner, "gamma"): ROOT for owner in ("Exponential", "Hamming")},
    **{(owner, "c"): HALF for owner in ("KernelRidge", "KernelRidgeClassifier")},
    ("KernelLogisticRegression", "c"): WHOLE,
    **{(owner, name): LOSSES for owner in ("KernelSVC", "KernelSVR") for name in PENALTIES},
}
"""For a class and a plain name: the parameter, and the number, in its own convention."""
GAUSSIAN = "write lengthscale={value} for exp(-|x - z|^2 / (2 {name}^2)); for exp(-|x - z|^2 / {name}^2) "
GAUSSIAN += "lengthscale = {name} / sqrt(2){number}"
RIDGE = "write alpha={value}, of sum (y - f(x))^2 + alpha |f|^2; where the squares are a mean, alpha = n {name}"
DIVIDED = "Matern RationalQuadratic Sinc ProductSinc Wendland Epanechnikov"
HINTS = {
    "Linear": " <x, M z> with M = A' A is Linear().after(A).",
    "Gaussian": " A lengthscale for each column: Gaussian().scaled([1.0, 2.0]).",
}
"""What is added where a class got too many parameters."""
OF_KERNELS = {*WIDTHS.split(), "gamma", "coef0", "degree", "p", "nu", "period"}
"""Plain names of numbers that belong to a kernel, and do not stand beside it."""
STEP = "leave it out, since a step size changes no decision of a perceptron that starts at zero"
DESCENT = "give it to the solver: solver=mercer.solvers.GradientDescent(step=...)"
FACTOR = "a factor stands before a kernel: 2.0 * {owner}()"
ELSEWHERE: tuple[tuple[str, str, str], ...] = (
    ("eta eta0 learningrate", "Perceptron KernelPerceptron", STEP),
    ("eta eta0 learningrate step", "KernelRidge KernelRidgeClassifier", DESCENT),
    ("probability", "KernelSVC", "CalibratedClassifierCV(model, ensemble=False) of scikit-learn gives probabilities"),
    ("interactiononly", "Monomials", "Subsets(max_order=...) has the products of different columns"),
    ("includebias", "Polynomial", "offset=0 leaves out the constant, and all monomials below the degree"),
    ("gamma", DIVIDED, "distances are divided by lengthscale"),
    ("threshold b", "KernelSVC KernelSVR", "the intercept is found by fit, as intercept_"),
)
"""Plain names, the classes that lack them, and what is to be done instead."""
MAX_LOG = 700.0
"""Logarithm of the largest factor that is written as a number."""
LONGEST = 40
"""Letters of a value that is repeated."""


def told(owner: str, known: Sequence[str], given: Mapping[str, Any], *, beside_kernel: bool = False) -> str:
    """What is said where a class is given parameters that it does not have, with the numbers in its own convention.

    beside_kernel : whether the class is a learner or a lift, with the kernel as one of its parameters

    >>> told("Gaussian", ["lengthscale"], {"gamma": 0.5})
    "Gaussian has no parameter 'gamma': gamma = 1 / (2 lengthscale^2), so gamma=0.5 is lengthscale=1.0."
    >>> told("KernelPerceptron", ["kernel", "max_iter"], {"T": 5}, beside_kernel=True)
    "KernelPerceptron has no parameter 'T': write max_iter=5."
    """
    unknown = [name for name in given if name not in known]
    inside = [name for name in unknown if beside_kernel and "kernel" in known and plain(name) in OF_KERNELS]
    outside = [
        f"{owner} has no parameter {name!r}{_about(owner, known, name, given)}"
        for name in unknown
        if name not in inside
    ]
    return " ".join([*([_of_kernel(owner, inside, given)] if inside else []), *outside])


SOLVERS = {
    "GradientDescent": "gd descent gradient gradientdescent sgd",
    "ConjugateGradient": "cg conjugategradient conjugategradients sparsecg pcg",
    "Eigen": "eigen eigh svd spectral",
}
"""Solvers, and words for them; any other word is answered by a Cholesky factor."""


def solver_meant(word: Any) -> str:
    """The solver of a word, as Python writes it.

    >>> solver_meant("gradient_descent"), solver_meant("cholesky")
    ('GradientDescent()', 'Cholesky()')
    """
    key = plain(word) if isinstance(word, str) else ""
    return next((f"{name}()" for name, words in SOLVERS.items() if key in words.split()), "Cholesky()")


def too_many(owner: str, known: Sequence[str], count: int, names: Sequence[str] = ()) -> str:
    """What is said where a class is given more parameters by position than it takes so.

    known : those that it takes by position
    names : all

    >>> too_many("KernelSVC", ["kernel"], 2)
    'KernelSVC takes kernel by position, and got 2 parameters so. Give the others by name.'
    >>> too_many("GradientDescent", [], 1, ["step", "tol"])
    'GradientDescent takes parameters by name alone, and got 1 by position. Known: step, tol.'
    """
    takes = f"takes {', '.join(known)} by position, and got {count} parameters so. Give the others by name."
    if not known:
        takes = f"takes no parameter, and got {count}."
        if names:
            takes = f"takes parameters by name alone, and got {count} by position. Known: {', '.join(names)}."
    return f"{owner} {takes}{HINTS.get(owner, '')}"


def twice(owner: str, name: str, value: Any) -> str:
    """What is said where a parameter is given by position and by name.

    >>> twice("KernelPCA", "kernel", 2)
    'KernelPCA got kernel twice: 2 by position, and by name. Give all but kernel by name.'
    """
    return f"{owner} got {name} twice: {_shown(value)} by position, and by name. Give all but {name} by name."


def _about(owner: str, known: Sequence[str], name: str, given: Mapping[str, Any]) -> str:
    """What comes after the statement that there is no such parameter."""
    key, value = plain(name), given[name]
    if formula := FORMULAS.get((owner, key)):
        return f": {_converted(formula, name, value)}."
    if owner in ("Gaussian", "RadialBasis") and key in WIDTHS.split() and key not in ("lengthscale", "ell"):
        number = f" = {value / math.sqrt(2)}" if _is_number(value) else ""
        return ": " + GAUSSIAN.format(name=name, value=_shown(value), number=number) + "."
    if owner == "Polynomial" and key == "gamma":
        kernel = _polynomial(_by_plain_name(given))
        return f": (gamma <x, z> + coef0)^p = gamma^p (<x, z> + coef0 / gamma)^p, so write {kernel}."
    for names, owners, said in ELSEWHERE:
        if key in names.split() and owner in owners.split():
            return f": {said}."
    meant = [each for each in known if key in (plain(each), *MEANT.get(each, "").split())]
    parameter = next((each for each in meant if each not in given), "")
    if parameter == "alpha" and owner in ("KernelRidge", "KernelRidgeClassifier"):
        return f": {RIDGE.format(value=_shown(value), name=name)}."
    if parameter:
        return f": write {parameter}={_shown(value)}."
    if meant:
        return f": it is {meant[0]}, which is given too."
    if key in ("variance", "outputscale", "amplitude", "constant"):
        return f": {FACTOR.format(owner=owner)}."
    typo = nearest(name, known)
    return f". Did you mean {typo!r}?" if typo else f". Known: {', '.join(known) or 'none'}."


def _of_kernel(owner: str, names: Sequence[str], given: Mapping[str, Any]) -> str:
    """Numbers that stand beside the kernel in scikit-learn, put into it."""
    several = len(names) > 1
    quoted = [repr(name) for name in names]
    listed = f"{', '.join(quoted[:-1])} and {quoted[-1]}" if several else quoted[0]
    head = (
        f"{owner} has no parameter{'s' * several} {listed}: {'they belong' if several else 'it belongs'} to the kernel"
    )
    found = {plain(name): given[name] for name in names}
    kernel, reason = _kernel_of(found, given.get("kernel"))
    return f"{head}. Write kernel={kernel}{reason}."


def _kernel_of(found: Mapping[str, Any], kernel: Any) -> tuple[str, str]:
    """The kernel with numbers of another convention, as Python writes it, and the formula where one is needed."""
    named = plain(kernel) if isinstance(kernel, str) else ""
    if named.startswith("poly") or found.keys() & {"coef0", "degree", "p"}:
        return _polynomial(found), ""
    if named in ("sigmoid", "tanh"):
        return f"Sigmoid(slope={_shown(found.get('gamma', 1.0))})", ""
    if "nu" in found:
        return f"Matern(nu={_shown(found['nu'])})", ""
    if "period" in found:
        return f"Periodic(period={_shown(found['period'])})", ""
    gamma = found.get("gamma")
    if named.startswith("lap") and "gamma" in found:
        return f"ProductLaplace({_value(RECIPROCAL, gamma)})", f", since {RECIPROCAL.text}"
    if isinstance(gamma, str):
        return "'gaussian'", ", whose lengthscale is the median distance of the rows"
    if "gamma" in found:
        return f"Gaussian({_value(SQUARED, gamma)})", f", since {SQUARED.text}"
    return f"Gaussian(lengthscale={_shown(next(iter(found.values())))})", ", for exp(-|x - z|^2 / (2 lengthscale^2))"


def _polynomial(found: Mapping[str, Any]) -> str:
    """(gamma <x, z> + coef0)^degree, as Python writes it here."""
    degree = next((found[name] for name in ("degree", "p", "d") if name in found), 2)
    offset = next((found[name] for name in ("coef0", "offset", "c") if name in found), 1.0)
    gamma = found.get("gamma", 1.0)
    if gamma == 1.0:
        parts = [f"degree={_shown(degree)}"] + [f"offset={_shown(offset)}"] * bool(
            found.keys() & {"coef0", "offset", "c"}
        )
        return f"Polynomial({', '.join(parts)})"
    if all(map(_is_number, (gamma, degree, offset))) and gamma > 0 and abs(degree * math.log(gamma)) < MAX_LOG:
        return f"{float(gamma) ** degree} * Polynomial(degree={degree}, offset={offset / gamma})"
    return "gamma**degree * Polynomial(degree, offset=coef0 / gamma)"


def _converted(formula: Formula, name: str, value: Any) -> str:
    """The formula, with the number where one was given for which it has one."""
    number = _value(formula, value)
    return f"{formula.text}, so {name}={_shown(value)} is {number}" if number.count("...") == 0 else formula.text


def _value(formula: Formula, value: Any) -> str:
    """The parameter with its number, or dots where there is none."""
    if _is_number(value) and value > 0:
        return f"{formula.parameter}={float(formula.convert(float(value)))}"
    return f"{formula.parameter}=..."


def _by_plain_name(given: Mapping[str, Any]) -> dict[str, Any]:
    return {plain(name): value for name, value in given.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: Any) -> str:
    """A value as Python writes it, where that is short."""
    text = repr(
        value.item() if isinstance(value, Real) and hasattr(value, "item") else value
    )  # NumPy's numbers as numbers
    return text if len(text) <= LONGEST else "..."
