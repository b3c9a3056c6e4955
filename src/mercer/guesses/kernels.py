"""What other books and libraries call a kernel, and the text that is that kernel here.

Names that a text may use as they are, `rbf` say, are the `aliases` of a kernel's class. Here are those that need a
number, a choice or a word of warning.
"""

from __future__ import annotations

import re

from mercer.guesses.spelling import nearest, stem

OF_STRINGS = "For strings: {spectrum(k=3)}, {gappy_subsequence(length=3, decay=0.5)} or {bag_of_words}."
OF_GRAPHS = "For graphs: {weisfeiler_lehman(iterations=5)}, {shortest_path} or {random_walk}."
OF_LABELS = "For labels: {match}, {hamming} or {ordinal(['S', 'M', 'L'])}, which takes their order."
INNER = "The inner product is {linear}, written without its points."
NOISE = (
    "Noise is no part of a kernel here: it is alpha of KernelRidge, the variance of the noise over that of the kernel."
)
LAPLACE = "It is {laplace}, exp(-|x - z| / lengthscale); {matern(nu=0.5)} is the same function."
LAPLACIAN = (
    "It is {laplace} of the Euclidean distance, or {product_laplace} of the sum of |x_k - z_k|, as in scikit-learn."
)
CAUCHY = "It is {rational_quadratic(shape=1)}: 1 / (1 + |x - z|^2 / (2 lengthscale^2))."
INVERSE = "It is {rational_quadratic(shape=0.5)}: 1 / sqrt(1 + |x - z|^2 / lengthscale^2)."
TRIANGLE = "It is {wendland(dimension=1, smoothness=0)}: max(0, 1 - |x - z| / lengthscale), a kernel for d = 1."
PERIODIC = "It is {periodic(period=1, lengthscale=1)}: exp(-2 sin^2(pi (x - z) / period) / lengthscale^2)."
MINIMUM = "It is {min}, on coordinates of at least zero."
MAXIMUM = "max is no kernel: for the points 0 and 1 its matrix is [[0, 1], [1, 1]]. {min} is one, on numbers from 0 on."
RUNS = "It is {spectrum(k=3)}: runs of k symbols that two strings share."
WORDS = "It is {bag_of_words}."
SUBSETS = "It is {subsets}; {subsets(min_order=2, max_order=2)} has the products of two columns alone (ANOVA)."
NETWORK = "A wide network of one hidden layer gives {arc_cosine(order=1)}."
BOX = "It is no kernel: its Fourier transform, a sinc, has negative values. {wendland} is one that is 0 far away."

MEANT: dict[str, str] = {
    "absoluteexponential": LAPLACE,
    "additive": "Add kernels of single columns: {gaussian.on([0]) + gaussian.on([1])}.",
    "additivechi2": "scikit-learn's additive_chi2 is no kernel; {chi_squared}, sum 2 x_k z_k / (x_k + z_k), is one.",
    "affine": "It is {1 + linear}.",
    "anova": SUBSETS,
    "arccos": NETWORK,
    "bias": "It is {constant}.",
    "bow": WORDS,
    "box": BOX,
    "brownian": MINIMUM,
    "categorical": OF_LABELS,
    "cauchy": CAUCHY,
    "chi2": "It is {exponential_chi_squared}, scikit-learn's chi2_kernel, or {chi_squared} without the exponential.",
    "compact": "{wendland} is 0 from one lengthscale on.",
    "const": "It is {constant}.",
    "cubic": "It is {polynomial(degree=3)}.",
    "delta": "Of labels it is {match}. " + NOISE,
    "diffusion": OF_GRAPHS,
    "dirac": "Of labels it is {match}. " + NOISE,
    "dirichlet": "It is {trigonometric(order=3)}, the sum of cos(k (x - z)) from k = 1 on.",
    "distance": "A distance is no kernel. {gaussian} and {laplace} fall with it.",
    "dot": INNER,
    "dotproduct": INNER,
    "edit": "It is {edit_similarity}.",
    "editdistance": "A distance is no kernel; {edit_similarity} falls with it.",
    "expsinesquared": PERIODIC,
    "fourier": "It is {trigonometric(order=3)}.",
    "gapweighted": "It is {gappy_subsequence(length=3, decay=0.5)}.",
    "graph": OF_GRAPHS,
    "graphs": OF_GRAPHS,
    "hat": TRIANGLE,
    "histogramintersection": MINIMUM,
    "identity": NOISE,
    "imq": INVERSE,
    "inner": INNER,
    "innerproduct": INNER,
    "interaction": SUBSETS,
    "intersection": MINIMUM,
    "inversemultiquadric": INVERSE,
    "kmer": RUNS,
    "kronecker": "Of labels it is {match}. " + NOISE,
    "kspectrum": RUNS,
    "laplacian": LAPLACIAN,
    "lcs": "It is {common_subsequence}.",
    "levenshtein": "A distance is no kernel; {edit_similarity} falls with it.",
    "locallyperiodic": "It is {gaussian(lengthscale=3) * periodic}.",
    "matern12": "It is {matern(nu=0.5)}.",
    "matern32": "It is {matern(nu=1.5)}.",
    "matern52": "It is {matern(nu=2.5)}.",
    "materninf": "It is {gaussian}.",
    "max": MAXIMUM,
    "maximum": MAXIMUM,
    "minimum": MINIMUM,
    "mlp": NETWORK,
    "multiquadric": "sqrt(1 + r^2) is no kernel. " + INVERSE.replace("It is", "Its inverse is"),
    "neural": NETWORK,
    "neuralnetwork": NETWORK,
    "ngram": RUNS,
    "ngrams": RUNS,
    "nngp": NETWORK,
    "noise": NOISE,
    "nominal": OF_LABELS,
    "normal": "It is {gaussian}.",
    "one": "It is {constant}.",
    "ones": "It is {constant}.",
    "onehot": OF_LABELS,
    "ornsteinuhlenbeck": LAPLACE,
    "ou": LAPLACE,
    "precomputed": 'A learner takes a matrix: kernel="precomputed", and fit(K, y).',
    "quadratic": "It is {polynomial(degree=2)}.",
    "quartic": "It is {polynomial(degree=4)}.",
    "rectangular": BOX,
    "relu": NETWORK,
    "rq": "It is {rational_quadratic(shape=1)}.",
    "scalarproduct": INNER,
    "sequence": OF_STRINGS,
    "sin": PERIODIC,
    "sine": PERIODIC,
    "sp": "It is {shortest_path}.",
    "spectralmixture": "Add products such as {gaussian(lengthscale=3) * periodic(period=2)}.",
    "square": "It is {linear**2}.",
    "squared": "It is {linear**2}.",
    "ssk": "It is {gappy_subsequence(length=3, decay=0.5)}.",
    "string": OF_STRINGS,
    "strings": OF_STRINGS,
    "studentt": CAUCHY,
    "subsequence": "It is {gappy_subsequence(length=3, decay=0.5)}.",
    "tent": TRIANGLE,
    "text": OF_STRINGS,
    "texts": OF_STRINGS,
    "tfidf": "It is {bag_of_words(weights='idf')}.",
    "tophat": BOX,
    "triangle": TRIANGLE,
    "triangular": TRIANGLE,
    "trig": "It is {trigonometric(order=3)}.",
    "uniform": BOX,
    "vertex": OF_GRAPHS,
    "white": NOISE,
    "whitenoise": NOISE,
    "wiener": MINIMUM,
    "words": WORDS,
}
"""A plain name, and the sentence about it; in braces the texts, each of which `mercer.parse` reads."""
TEXT = re.compile(r"\{(.*?)\}")
FIRST = ("linear", "polynomial", "gaussian", "laplace", "matern", "periodic", "rational_quadratic", "subsets", "min")
"""Kernels that are named where a name says nothing."""


def meant(name: str, form: str = "{!r}") -> str:
    """What a name means that no kernel has here, as a sentence; "" where nobody uses it so.

    form : how a text is written in the sentence

    >>> meant("Matern32"), meant("Matern32", "mercer.parse({!r})")
    ("It is 'matern(nu=1.5)'.", "It is mercer.parse('matern(nu=1.5)').")
    """
    return TEXT.sub(lambda found: form.format(found[1]), MEANT.get(stem(name), ""))


def hint(name: str, known: list[str]) -> str:
    """A sentence about a name that is none of the known kernels: its meaning, a typo, or what there is.

    >>> hint("gausian", ["gaussian"]), hint("GaussianKernel", ["gaussian"]), hint("lin", ["min", "linear"])
    ("Did you mean 'gaussian'?", "Write 'gaussian'.", "Did you mean 'linear'?")
    """
    same = [each for each in known if stem(each) == stem(name)]
    if same:
        return f"Write {same[0]!r}."
    if meant(name):
        return meant(name)
    begun = [each for each in known if len(name) > 2 and each.startswith(name.lower())]
    if len(begun) == 1:
        return f"Did you mean {begun[0]!r}?"
    if typo := nearest(name, known):
        return f"Did you mean {typo!r}?"
    shown = [each for each in FIRST if each in known] or sorted(known)
    return f"Known: {', '.join(shown)}, and {len(known) - len(shown)} more; mercer.kernels has them all."
