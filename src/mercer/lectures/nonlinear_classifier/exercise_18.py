"""Exercise 18: counting dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb

from mercer.lectures.exercise_record import Exercise
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict
from mercer.lifts import Monomials

SHAPES = [(d, p) for d in range(1, 8) for p in range(1, 6)]
"""Columns and degrees that are counted."""


def _count() -> dict[str, dict[tuple[int, int], list[str]]]:
    """The names of all monomials of degree 1 to p of d columns."""
    lifts = {(d, p): Monomials(degree=p, include_bias=False).fit([[0.0] * d]) for d, p in SHAPES}
    return {"names": {shape: lift.get_feature_names_out().tolist() for shape, lift in lifts.items()}}


def _claim(text: str, formula: Callable[[int, int], int]) -> Claim:
    def decide(found: Found) -> Verdict:
        names: Mapping[tuple[int, int], list[str]] = found["names"]
        for (d, p), listed in sorted(names.items(), key=lambda item: len(item[1])):
            if formula(d, p) != len(listed):
                shown = ", ".join(listed[:6]) + ", ..." * (len(listed) > 6)
                why = f"for d = {d}, p = {p} it gives {formula(d, p)}, and there are {len(listed)}: {shown}."
                return Verdict(False, why, (d, p))
        return Verdict(True, f"counted for d = 1 to {SHAPES[-1][0]} and p = 1 to {SHAPES[-1][1]}.", None)

    return Claim(text, decide)


def _draw(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    columns = range(1, 101)
    for p in (1, 2, 3, 4):
        axes.loglog(columns, [comb(d + p, p) - 1 for d in columns], label=f"degree {p}")
    axes.plot(
        *zip(*((d, len(names)) for (d, p), names in found["names"].items() if p <= 4), strict=True),
        "k.",
        label="counted",
    )
    picture.finish(axes, "C(d + p, p) - 1 features", "columns d", "features")


EXERCISE = Exercise(
    number=18,
    lecture="Nonlinear classifier",
    title="counting dimensions of feature vectors",
    question="The text of the lecture has the title of this exercise alone; question and choices are Mercer's.\n"
    "phi(x) holds every monomial of degree 1 to p of the d columns of x: for d = p = 2 it is "
    "[x1, x2, x1^2, x2^2, x1 x2]. How many features are these?",
    claims={
        "A": _claim("p d", lambda d, p: p * d),
        "B": _claim("d^p", lambda d, p: d**p),
        "C": _claim("2^d - 1", lambda d, _: 2**d - 1),
        "D": _claim("C(d + p, p)", lambda d, p: comb(d + p, p)),
        "E": _claim("C(d + p, p) - 1", lambda d, p: comb(d + p, p) - 1),
    },
    stated="",
    reason="A monomial is p choices, with repetition and without order, among the d columns and the constant 1: there "
    "are C(d + p, p) of them, and the constant itself is not a feature here. Of 150 columns and degree 3 there are "
    f"{comb(153, 3) - 1:,}.",
    draw=_draw,
    compute=_count,
)
