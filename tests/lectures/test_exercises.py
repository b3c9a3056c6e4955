"""That the exercises of the lectures are answered as the lectures answer them, and by what can be checked by hand."""

from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import linprog

from mercer import lectures
from mercer.errors import InputError

NUMBERS = sorted(lectures.exercises())


def test_there_are_five():
    assert NUMBERS == [17, 18, 19, 20, 21]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_computed_answer_is_the_lectures(number):
    exercise = lectures.exercise(number)
    assert set(exercise.verdicts) == set(exercise.choices)
    assert exercise.answer == {17: "E", 18: "E", 19: "B", 20: "C", 21: "ABCDE"}[number]
    assert exercise.stated in (exercise.answer, "")
    assert (exercise.stated == "") == (number == 18)  # whose text is a title


@pytest.mark.parametrize("number", NUMBERS)
def test_the_question_does_not_tell_the_answer(number):
    exercise = lectures.exercise(number)
    shown = str(exercise)
    assert exercise.question.split("\n")[-1].split()[0] in shown
    assert all(f"  {letter}. {text}" in shown for letter, text in exercise.choices.items())
    assert "Answer" not in shown
    assert "yes" not in shown
    assert exercise.explanation.startswith(f"Answer: {exercise.answer}.")
    assert max(map(len, chain(shown.split("\n"), exercise.explanation.split("\n")))) <= 100


@pytest.mark.parametrize("number", NUMBERS)
def test_every_answer_is_marked(number):
    exercise = lectures.exercise(number)
    letters, right = list(exercise.choices), set(exercise.answer)
    for chosen in chain.from_iterable(combinations(letters, size) for size in range(1, len(letters) + 1)):
        mark = exercise.mark(", ".join(chosen).lower())
        assert bool(mark) is mark.right is (set(chosen) == right)
        assert mark.given == "".join(chosen)
        wrong, missing = sorted(set(chosen) - right), len(right - set(chosen))
        told = [remark[0] for remark in mark.remarks if remark[1] == "."]
        assert told == (list(chosen) if mark.right else wrong)
        assert sum("missing" in remark for remark in mark.remarks) == bool(missing)
        assert all(exercise.verdicts[letter].why in " ".join(mark.remarks) for letter in wrong)
        if missing:
            assert mark.remarks[-1].startswith(f"{missing} right")
            assert not any(f"{letter}. " in remark for letter in right - set(chosen) for remark in mark.remarks)


def test_answers_that_are_none():
    exercise = lectures.exercise(20)
    for given in ("E", "", "1", "x"):
        with pytest.raises(InputError, match="Exercise needs letters from A to D; got"):
            exercise.mark(given)
    with pytest.raises(InputError, match="one letter"):
        exercise.check("AB")
    assert exercise.check("c").holds
    assert exercise.mark(["C"]).right


def test_names_of_exercises():
    assert lectures.exercise("ex17") is lectures.exercise(17) is lectures.exercise("Exercise 17")
    for given in (16, "22", "", "ex", None, 17.5):
        with pytest.raises(InputError, match="There are 17, 18, 19, 20, 21"):
            lectures.exercise(given)


@pytest.mark.parametrize("number", NUMBERS)
def test_cards_hide_the_answer_behind_a_click(number):
    exercise = lectures.exercise(number)
    card = exercise._repr_html_()
    before, after = card.split("<details>")
    assert "<script" not in card
    assert f"<b>{exercise.answer}</b>" in after
    assert "as computed" not in before
    assert f"Exercise {number}" in before


# -- what decides, another way ----------------------------------------------------------------------------------------


def features_17(letter, X):
    x, y = X.T
    more = {
        "A": [],
        "B": [x * y],
        "C": [x**2 + y**2],
        "D": [x**2 + 2 * y**2],
        "E": [x * y, x**2, y**2],
    }
    return np.column_stack([x, y, *more[letter]])


@pytest.mark.parametrize("letter", "ABCDE")
def test_17_by_a_linear_program(letter):
    exercise = lectures.exercise(17)
    X, y = exercise.X, exercise.y
    phi = np.column_stack([features_17(letter, X), np.ones(len(X))])
    found = linprog(np.zeros(phi.shape[1]), A_ub=-y[:, None] * phi, b_ub=-np.ones(len(X)), bounds=(None, None))
    assert found.status == (0 if letter == "E" else 2)
    assert exercise.verdicts[letter].holds is (found.status == 0)


@pytest.mark.parametrize("letter", "ABCD")
def test_17_has_a_point_of_both_hulls(letter):
    exercise = lectures.exercise(17)
    weights = exercise.verdicts[letter].evidence.weights
    sums = {}
    for label, rows in weights.items():
        assert all(exercise.y[row] == label for row in rows)
        assert sum(rows.values()) == 1
        assert min(rows.values()) > 0
        phi = features_17(letter, exercise.X)
        sums[label] = [sum(w * Fraction(float(phi[row, k])) for row, w in rows.items()) for k in range(phi.shape[1])]
    assert [float(a - b) for a, b in zip(*sums.values(), strict=True)] == pytest.approx([0] * len(phi[0]), abs=1e-9)


def test_17_has_an_elliptic_boundary_and_a_seed():
    exercise = lectures.exercise(17)
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    x, y = (exercise.X - [0.4, -0.3]).T
    inside = ((c * x + s * y) / 2) ** 2 + (c * y - s * x) ** 2 <= 1
    assert np.array_equal(exercise.y == 1, inside)
    assert not exercise.X.flags.writeable


def test_18_counted_by_hand():
    formulas = {
        "A": lambda d, p: p * d,
        "B": lambda d, p: d**p,
        "C": lambda d, p: 2**d - 1,
    }
    exercise = lectures.exercise(18)
    counts = {
        (d, p): sum(1 for degree in range(1, p + 1) for _ in combinations_with_replacement(range(d), degree))
        for d in range(1, 6)
        for p in range(1, 5)
    }
    assert {shape: len(exercise.results["names"][shape]) for shape in counts} == counts
    for letter, formula in formulas.items():
        d, p = exercise.verdicts[letter].evidence
        assert formula(d, p) != counts[d, p]


@pytest.mark.parametrize("letter", "ACD")
def test_19_differs_where_it_is_said(letter):
    evidence = lectures.exercise(19).verdicts[letter].evidence
    x, z = evidence.x, evidence.z
    dot = x[0] * z[0] + x[1] * z[1]
    phi = dot + x[0] ** 2 * z[0] ** 2 + 2 * x[0] * x[1] * z[0] * z[1] + x[1] ** 2 * z[1] ** 2
    assert {"A": dot, "C": dot**2, "D": 2 * dot**2}[letter] != phi
    assert phi == dot + dot**2


@pytest.mark.parametrize("letter", "ABD")
def test_20_differs_where_it_is_said(letter):
    evidence = lectures.exercise(20).verdicts[letter].evidence
    x, z = evidence.x, evidence.z
    kernel = x[0] * z[0] + x[1] * z[1] + x[2] * z[2] + x[1] * z[2] + x[2] * z[1]
    features = {"A": lambda v: v, "B": lambda v: [sum(v)], "D": lambda v: [v[0] + v[2], v[0] + v[1]]}[letter]
    assert sum(a * b for a, b in zip(features(x), features(z), strict=True)) != kernel


def test_21_by_features_and_by_a_point():
    exercise = lectures.exercise(21)
    X = np.random.default_rng(0).normal(size=(30, 1))
    features = {
        "A": np.ones((30, 1)),
        "B": X,
        "C": np.column_stack([np.ones(30), X]),
        "D": np.column_stack([np.ones(30), np.sqrt(2) * X, X**2]),
        "E": np.exp(X),
    }
    for letter, phi in features.items():
        proof = exercise.verdicts[letter].evidence
        assert proof.status == "proven"
        np.testing.assert_allclose(np.broadcast_to(proof.kernel(X), (30, 30)), phi @ phi.T, rtol=1e-12, atol=1e-12)
    witness = exercise.verdicts["F"].evidence.witness
    assert min(witness.points[0, 0], witness.points[0, 0]) < 0


def test_an_answer_that_is_not_all_is_told_apart_from_a_wrong_one():
    assert str(lectures.exercise(21).mark("A")) == "A is right, and not all.\n  4 right choices are missing."
    assert str(lectures.exercise(21).mark("AF")).startswith("AF is not right.")
    assert str(lectures.exercise(21).mark("ABCDEF")).startswith("ABCDEF is not right.")
