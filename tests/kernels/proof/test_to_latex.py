"""Proofs as LaTeX: that it is well formed, that matplotlib can set its mathematics, and that it says what is proven."""

import re

import numpy as np
import pytest

import mercer
from mercer.kernels.proof.to_latex import MAX_SHOWN_POINTS, escaped, mathematics, typeset
from mercer.kernels.text import known_names

mathtext = pytest.importorskip("matplotlib.mathtext")

LEAVES = sorted({leaf.name for leaf in known_names().values() if isinstance(leaf, type)} - {"function", "ordinal"})
TREES = [
    ("exp(0.5*linear) * (1 + linear)**2", {}),
    ("gaussian.on([0]) + 2*laplace.scaled([1, 2])", {}),
    ("linear.normalized()", {}),
    ("laplace**0.5", {}),
    ("linear.after([[1, 2], [3, 4]])", {}),
    ("sinc", {"d": 4}),
    ("sigmoid", {"d": 1}),
    ("wendland(dimension=1, smoothness=1)", {"d": 4}),
    ("min", {"domain": "integers"}),
    ("gaussian.on(['a_b', '50 %', 'x$y{'])", {}),
    ("ordinal(order=['S', 'M', 'L'])", {}),
]
UNKNOWN_TO_MATPLOTLIB = {
    r"\lVert": r"\Vert",
    r"\rVert": r"\Vert",
    r"\lvert": r"\vert",
    r"\rvert": r"\vert",
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\top": "T",
}


def segments(line):
    """Prose and mathematics in turn; a dollar sign behind a backslash is a letter."""
    return re.split(r"(?<!\\)\$", line)


def check(text):
    """LaTeX that a compiler would take: brackets, dollar signs, environments, and no special letter in prose."""
    assert text.count(r"\begin{enumerate}") == text.count(r"\end{enumerate}") <= 1
    parser = mathtext.MathTextParser("path")
    for line in text.splitlines():
        pieces = segments(line)
        assert len(pieces) % 2 == 1, line
        for place, piece in enumerate(pieces):
            bare = re.sub(r"\\[\\{}]", "", piece)
            depths = np.cumsum([(letter == "{") - (letter == "}") for letter in bare] or [0])
            assert depths[-1] == 0, line
            assert depths.min() >= 0, line
            if place % 2:
                known = re.sub(r"\\[A-Za-z]+", lambda found: UNKNOWN_TO_MATPLOTLIB.get(found[0], found[0]), piece)
                parser.parse(f"${known}$")
            else:
                prose = re.sub(r"\\(textbf|texttt|begin|end|item|text\w+|[&%$#_{}])|[{}]", "", piece)
                assert not set(prose) & set("_^&%#<>|\\"), line


@pytest.mark.parametrize("name", LEAVES)
def test_every_kernel_gives_latex_that_can_be_set(name):
    proof = mercer.prove(name)
    text = proof.to_latex()
    check(text)
    assert text.count(r"\item") == len(proof.steps)
    assert f"$k(x, z) = {proof.kernel.latex()}$" in text.splitlines()[0]
    assert (r"\textbf{Witness.}" in text) == (proof.status == "refuted")


@pytest.mark.parametrize(("kernel", "where"), TREES)
def test_trees_and_refutations(kernel, where):
    text = mercer.prove(kernel, **where).to_latex()
    check(text)
    assert "lengthscale=" not in text  # formulas stand for texts


def test_a_proof_of_the_lectures():
    claim, begin, *steps, end = mercer.prove("(1 + linear)**2", d=2).to_latex().splitlines()
    square = r"$\left( 1 + \langle x, z \rangle \right)^{2}$"
    assert claim == rf"\textbf{{Claim}} (proven). $k(x, z) = {square[1:]} is a kernel on the reals, $d = 2$."
    assert (begin, end) == (r"\begin{enumerate}", r"\end{enumerate}")
    one, inner, total, power = steps
    assert one == r"\item $1$ is a kernel: its lift is the single feature $\sqrt{1.0}$ (rule of the constant)."
    assert inner.startswith(r"\item $\langle x, z \rangle$ is a kernel on the reals, for every $d$: it is the inner")
    assert inner.endswith(r"product itself, with the lift $\phi(x) = x$.")
    assert total.endswith("is a kernel: the sum of kernels is a kernel (sum rule) [by steps $1$ and $2$].")
    assert power.startswith(rf"\item {square} is a kernel: a whole power is a product of $2$ equal kernels")


def test_a_witness_can_be_read_back():
    text = mercer.prove("sinc", d=4).to_latex()
    points = [[float(v) for v in found.split(",")] for found in re.findall(r"\$x_\{\d+\} = \((.*?)\)\$", text)]
    weights = [float(found) for found in re.findall(r"\$c_\{\d+\} = (\S+?)\$", text)]
    value = float(re.search(r"k\(x_\{i\}, x_\{j\}\) = (\S+) < 0", text)[1])
    X, c = np.array(points), np.array(weights)
    R = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert abs(c @ np.sinc(R / np.pi) @ c - value) < 1e-9


def test_functions_and_long_witnesses():
    asymmetric = mercer.prove(lambda x, z: float(x[0] - z[0]), d=1).to_latex()
    check(asymmetric)
    assert r"\texttt{\textless{}lambda\textgreater{}} is not a kernel" in asymmetric
    assert r"\neq" in asymmetric
    points = np.arange(20.0)[:, None]
    witness = mercer.Witness(points, np.ones(20), -1.5e-9, 50)
    proof = mercer.prove("sigmoid", d=1)
    text = mercer.Proof(**{**vars(proof), "witness": witness}).to_latex()
    check(text)
    assert f"and {20 - MAX_SHOWN_POINTS} more points" in text
    assert r"-1.5 \cdot 10^{-9} < 0" in text


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("x_k^a_k", "x_{k}^{a_{k}}"),
        ("prod_{k in S} x_k", r"\prod_{k \in S} x_{k}"),
        (
            "(2 nu / lengthscale^2 + |w|^2)^(-(nu + d/2))",
            r"(2 \nu / \mathrm{lengthscale}^{2} + |w|^{2})^{-(\nu + d/2)}",
        ),
        ("1 / sqrt(k(x, x))", r"1 / \sqrt{k(x, x)}"),
        ("x_k -> (cos, sin)(t)", r"x_{k} \to (\cos, \sin)(t)"),
        ("-0.5 <= w", r"-0.5 \leq w"),
    ],
)
def test_formulas(plain, latex):
    assert mathematics(plain) == latex
    check(f"${latex}$")


def test_prose_stays_prose():
    sentence = "a rule of the map, and a power (product rule)"
    assert typeset(sentence) == sentence
    assert typeset("<x, z> is it, for d <= 3: so") == r"$\langle x, z \rangle$ is it, for $d \leq 3$: so"
    assert escaped("a\\b") == r"a\textbackslash{}b"
