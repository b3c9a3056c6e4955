"""The text of the two sweeps, for states of given sizes: what a loop over components would do, written out.

Both hold covariances as L diag(d) L', which no subtraction touches: a step makes new factors from weighted columns
(Thornton), and an observation of the first component divides its d alone (Bierman). The innermost loops go over alphas,
so that each line is one vector instruction for several of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType

from mercer.compute.codegen import jit_cache

Matrix = Mapping[tuple[int, int], str]
"""The entries that are not zero, as text."""
ONE = "1.0"
LEAST = "1e-290"
"""Below it a weight is none: its inverse would leave the range of floats."""


@cache
def loops(sizes: tuple[int, ...]) -> ModuleType:
    """`forward` and `backward` for states of these sizes; compiled where Numba is there."""
    return jit_cache.load(source(sizes, jit_cache.numba_works()))


def source(sizes: tuple[int, ...], compiled: bool = True) -> str:
    """The text of a module."""
    head = "from mercer.compute.codegen.kept import njit" if compiled else ""
    mark = '@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")' if compiled else ""
    return "\n".join([head, *_forward(sizes, mark), *_backward(sizes, mark)]) + "\n"


def moves(sizes: tuple[int, ...]) -> tuple[dict[tuple[int, int], str], dict[tuple[int, int], str], list[str]]:
    """A, the columns of what is new, and their weights: names of the numbers of a step (`Steps`)."""
    A: dict[tuple[int, int], str] = {}
    Q: dict[tuple[int, int], str] = {}
    weights, place, at = [], 0, 0
    for b, size in enumerate(sizes):
        for i in range(size):
            for j in range(i, size):
                A[at + i, at + j] = f"s{place + j - i}"
        for j in range(1, size):
            A[0, at + j] = f"s{place + j}"
        place += size
        if b:
            A[0, at] = f"s{place}"
            place += 1
        Q[0, at] = ONE
        for i in range(size):
            Q[at + i, at + i] = ONE
            for j in range(i):
                Q[at + i, at + j] = f"s{place + i * (i - 1) // 2 + j}"
        place += size * (size - 1) // 2
        weights += [f"s{place + j}" for j in range(size)]
        place += size
        at += size
    return A, Q, weights


def below(r: int, c: int) -> int:
    """Where L_rc stands."""
    return r * (r - 1) // 2 + c


def _times(*parts: str) -> str:
    return " * ".join(part for part in parts if part != ONE) or ONE


def _sum(terms: Sequence[str]) -> str:
    return " + ".join(terms) or "0.0"


def _lower(count: int, name: str) -> dict[tuple[int, int], str]:
    """A factor with ones on its diagonal."""
    ones = {(r, r): ONE for r in range(count)}
    return ones | {(r, c): f"{name}{below(r, c)}" for r in range(count) for c in range(r)}


def _factor(W: dict[tuple[int, int], str], weights: Sequence[str], count: int, d: str, low: str) -> list[str]:
    """New factors of W diag(weights) W', row by row: each takes its part from those after it."""
    lines = []
    W = dict(W)
    for r in range(count):
        columns = [c for c in range(len(weights)) if (r, c) in W]
        lines += [f"p{r}_{c} = {_times(weights[c], W[r, c])}" for c in columns]
        lines.append(f"{d}{r} = " + _sum([_times(f"p{r}_{c}", W[r, c]) for c in columns]))
        if r + 1 == count:
            break
        lines.append(f"i{r} = 1.0 / {d}{r} if {d}{r} > {LEAST} else 0.0")
        for s in range(r + 1, count):
            both = [c for c in columns if (s, c) in W]
            if not both:
                lines.append(f"{low}{below(s, r)} = 0.0")
                continue
            lines.append(f"{low}{below(s, r)} = i{r} * (" + _sum([_times(f"p{r}_{c}", W[s, c]) for c in both]) + ")")
            for c in columns:
                before = W.get((s, c), "0.0")
                lines.append(f"w{s}_{c}_{r} = {before} - {_times(f'{low}{below(s, r)}', W[r, c])}")
                W[s, c] = f"w{s}_{c}_{r}"
    return lines


def _steps_of(sizes: tuple[int, ...], row: str) -> list[str]:
    A, Q, weights = moves(sizes)
    names = sorted({*A.values(), *Q.values(), *weights} - {ONE}, key=lambda name: int(name[1:]))
    return [f"{name} = steps[{row}, {name[1:]}]" for name in names]


def _indented(lines: Sequence[str], depth: int) -> list[str]:
    return [" " * 4 * depth + line for line in lines]


def _forward(sizes: tuple[int, ...], mark: str) -> list[str]:
    """From the first row to the last: what each is expected to be from those before it.

    d, low : (components, alphas) and (pairs, alphas), of the state after the row before; overwritten
    mean : (components, columns, alphas); overwritten
    ahead : (rows, components, alphas), the first column of the expected covariance
    gain, rest : (rows, alphas), w / (w d_0 + alpha) and alpha / (w d_0 + alpha); 0 and 1 where a row is not observed
    expected : (rows, columns, alphas)
    """
    count = sum(sizes)
    A, Q, news = moves(sizes)
    L = _lower(count, "l")
    lines = [f"d{r} = d[{r}, j]" for r in range(count)]
    lines += [f"l{below(r, c)} = low[{below(r, c)}, j]" for r in range(count) for c in range(r)]
    W: dict[tuple[int, int], str] = {}
    for r in range(count):
        for c in range(count):
            terms = [_times(A[r, k], L[k, c]) for k in range(count) if (r, k) in A and (k, c) in L]
            if terms:
                lines.append(f"a{r}_{c} = {_sum(terms)}")
                W[r, c] = f"a{r}_{c}"
    W |= {(r, count + c): text for (r, c), text in Q.items()}
    lines += _factor(W, [f"d{c}" for c in range(count)] + news, count, "e", "m")
    lines += ["ahead[i, 0, j] = e0", *(f"ahead[i, {r}, j] = e0 * m{below(r, 0)}" for r in range(1, count))]
    lines += ["alpha = alphas[j] if seen else 1.0", "g = weight * e0 + alpha", "g = 1.0 / g if g > 0.0 else 0.0"]
    lines += ["left = alpha * g", "gain[i, j] = weight * g", "rest[i, j] = left"]
    lines += ["d[0, j] = e0 * left", *(f"d[{r}, j] = e{r}" for r in range(1, count))]
    lines += [f"low[{below(r, c)}, j] = m{below(r, c)}" for r in range(count) for c in range(r)]
    moved = [f"x{r} = mean[{r}, c, j]" for r in range(count)]
    moved += [f"y{r} = " + _sum([_times(A[r, k], f"x{k}") for k in range(count) if (r, k) in A]) for r in range(count)]
    moved += ["expected[i, c, j] = y0", "v = (target - y0) * gain[i, j]"]
    moved += [f"mean[{r}, c, j] = y{r} + ahead[i, {r}, j] * v" for r in range(count)]
    return [
        mark,
        "def forward(steps, weights, targets, alphas, d, low, mean, ahead, gain, rest, expected):",
        "    for i in range(len(weights)):",
        "        weight = weights[i]",
        "        seen = weight > 0.0",
        *_indented(_steps_of(sizes, "i"), 2),
        "        for j in range(len(alphas)):",
        *_indented(lines, 3),
        "        for c in range(targets.shape[1]):",
        "            target = targets[i, c]",
        "            for j in range(len(alphas)):",
        *_indented(moved, 4),
        "",
    ]


def _backward(sizes: tuple[int, ...], mark: str) -> list[str]:
    """From the last row to the first: what each owes to those after it, and with them all that least squares asks.

    steps : of the rows after each
    d, low, mean : of the information in the rows after, and what it says; overwritten
    solved : (rows, columns, alphas), (K + alpha / w)^-1 y; for rows that are not observed 0
    inverse : (rows, alphas), the diagonal of (K + alpha / w)^-1
    fitted, spread : (rows, columns, alphas) and (rows, alphas), f and its variance, of `smooth` alone
    """
    count = sum(sizes)
    A, _, _ = moves(sizes)
    U = _lower(count, "l")
    lines = [f"d{r} = d[{r}, j]" for r in range(count)]
    lines += [f"l{below(r, c)} = low[{below(r, c)}, j]" for r in range(count) for c in range(r)]
    lines += [f"h{r} = ahead[i, {r}, j]" for r in range(count)]
    lines += ["k = gain[i, j]", "left = rest[i, j]"]
    W: dict[tuple[int, int], str] = {}
    for r in range(count):
        for c in range(count):
            terms = [_times(A[k, r], U[k, c]) for k in range(count) if (k, r) in A and (k, c) in U]
            if terms:
                lines.append(f"a{r}_{c} = {_sum(terms)}")
                W[r, c] = f"a{r}_{c}"
    for c in range(count):
        lines.append(f"q{c} = " + _sum([_times(f"h{r}", W[r, c]) for r in range(count) if (r, c) in W]))
    lines.append("inverse[i, j] = k * (1.0 + k * (" + _sum([f"d{c} * q{c} * q{c}" for c in range(count)]) + "))")
    for c in range(count):
        own = [_times("left", W[0, c])] if (0, c) in W else []
        others = [_times(f"h{r}", W[r, c]) for r in range(1, count) if (r, c) in W]
        lines.append(f"b{c} = " + (own[0] if own else "0.0") + (f" - k * ({_sum(others)})" if others else ""))
        W[0, c] = f"b{c}"
    W[0, count] = ONE
    lines += _factor(W, [f"d{c}" for c in range(count)] + ["k"], count, "e", "m")
    lines += [f"d[{r}, j] = e{r}" for r in range(count)]
    lines += [f"low[{below(r, c)}, j] = m{below(r, c)}" for r in range(count) for c in range(r)]
    lower = _lower(count, "m")
    wide = [f"z{c} = " + _sum([_times(f"h{r}", lower[r, c]) for r in range(c, count)]) for c in range(count)]
    wide.append("spread[i, j] = h0 - (" + _sum([f"e{c} * z{c} * z{c}" for c in range(count)]) + ")")
    moved = [f"x{r} = mean[{r}, c, j]" for r in range(count)]
    moved += [f"y{r} = " + _sum([_times(A[k, r], f"x{k}") for k in range(count) if (k, r) in A]) for r in range(count)]
    moved += ["k = gain[i, j]"]
    owed = "".join(f" - ahead[i, {r}, j] * y{r}" for r in range(1, count))
    moved += [f"v = k * (target - expected[i, c, j]{owed})", "solved[i, c, j] = v - k * (ahead[i, 0, j] * y0)"]
    moved += ["z = rest[i, j] * y0 + v", "mean[0, c, j] = z"]
    moved += [f"mean[{r}, c, j] = y{r}" for r in range(1, count)]
    shown = "fitted[i, c, j] = expected[i, c, j] + ahead[i, 0, j] * z"
    shown += "".join(f" + ahead[i, {r}, j] * y{r}" for r in range(1, count))
    arguments = "steps, targets, d, low, mean, ahead, gain, rest, expected, solved, inverse, fitted, spread"

    def body(lines: list[str], moved: list[str], name: str, arguments: str) -> list[str]:
        return [
            mark,
            f"def {name}({arguments}):",
            "    for i in range(len(targets) - 1, -1, -1):",
            *_indented(_steps_of(sizes, "i"), 2),
            "        for j in range(gain.shape[1]):",
            *_indented(lines, 3),
            "        for c in range(targets.shape[1]):",
            "            target = targets[i, c]",
            "            for j in range(gain.shape[1]):",
            *_indented(moved, 4),
            "",
        ]

    plain = body(lines, moved, "backward", arguments.removesuffix(", fitted, spread"))
    return plain + body(lines + wide, [*moved, shown], "smooth", arguments)
