"""Functions of Python inside kernels: called with objects, not with positions, and checked at each evaluation."""

import pickle

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import DomainError, InputError, ModelFileError
from mercer.kernels import Constant, Gaussian, Linear, Match, Spectrum, VertexHistogram
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.graphs import Graph
from mercer.learners import KernelRidge
from mercer.lifts import Nystrom


def shortness(text):
    return 1.0 / len(text)


def of_a_row(row):
    text, number = row
    return len(text) + number


STRINGS = ["aaaa", "ab", "b", "abab", "ab"]


def by_hand(kernel, X, f):
    weights = np.array([f(x) for x in X])
    return weights[:, None] * kernel(X) * weights[None, :]


def test_a_weight_of_strings_gets_the_strings_whatever_their_order():
    k = Spectrum(1).weighted(shortness)
    assert k(["aaaa"])[0, 0] == 1.0
    assert np.array_equal(k(STRINGS), by_hand(Spectrum(1), STRINGS, shortness))
    order = [3, 0, 4, 2, 1]
    shuffled = [STRINGS[i] for i in order]
    assert np.array_equal(k(shuffled), k(STRINGS)[np.ix_(order, order)])
    assert np.array_equal(k(STRINGS, shuffled), k(STRINGS)[:, order])
    assert np.array_equal(k.diagonal(STRINGS), np.diag(k(STRINGS)))
    with fused_from(0):
        assert np.allclose(k(STRINGS), by_hand(Spectrum(1), STRINGS, shortness), rtol=1e-14)


def test_weights_of_tokens_graphs_labels_and_rows():
    tokens = [("one", "two"), ("two",)]
    assert np.array_equal(Spectrum(1).weighted(len)(tokens), [[8.0, 2.0], [2.0, 1.0]])
    graphs = [Graph(2, [(0, 1)], ["a", "b"]), Graph(3, [(0, 1), (1, 2)], ["a", "a", "b"])]
    k = VertexHistogram().weighted(lambda graph: graph.nodes)
    assert np.array_equal(k(graphs), k(graphs[::-1])[::-1, ::-1])
    assert k(graphs)[0, 0] == 2 * 2 * 2
    worth = {"x": 2.0, "y": 3.0}
    labels = pd.DataFrame({"colour": ["x", "y", "x"]})
    k = Match().weighted(lambda label: worth[label])
    assert np.array_equal(np.diag(k(labels)), [4.0, 9.0, 4.0])
    assert np.array_equal(np.diag(k(labels[::-1])), [4.0, 9.0, 4.0])
    frame = pd.DataFrame({"s": ["ab", "c"], "n": [1.0, 2.0]})
    whole = (Spectrum(1).on("s") + Linear().on("n")).weighted(of_a_row)
    assert np.array_equal(whole(frame), [[27.0, 18.0], [18.0, 45.0]])


def test_each_object_is_asked_once():
    asked = []
    Spectrum(1).weighted(lambda text: asked.append(text) or 1.0)(STRINGS * 20)
    assert sorted(asked) == sorted(set(STRINGS))


def test_weights_of_strings_in_learners_pickles_and_files(tmp_path):
    y = np.arange(5.0)
    k = Spectrum(1).weighted(shortness)
    model = KernelRidge(k, alpha=0.1, fit_intercept=False).fit(STRINGS, y)
    K = by_hand(Spectrum(1), STRINGS, shortness)
    assert np.allclose(model.predict(STRINGS), K @ np.linalg.solve(K + 0.1 * np.eye(5), y))
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.predict(["ba", "a"]), model.predict(["ba", "a"]))
    lift = Nystrom(k, 2, random_state=0).fit(STRINGS)
    assert np.allclose(lift.transform(STRINGS) @ lift.transform(STRINGS).T, K)
    with pytest.raises(ModelFileError, match="holds a function"):
        mercer.save(model, tmp_path / "m.mercer")


def test_the_proof_names_its_condition():
    steps = " ".join(mercer.prove(Spectrum(1).weighted(shortness)).steps)
    assert "shortness real-valued on the domain: checked at each evaluation" in steps


ROWS = np.array([[-1.0], [2.0]])
BAD = {
    "complex": (lambda X: X[:, 0] * 1j, DomainError),
    "complex on some rows": (lambda X: np.emath.sqrt(X[:, 0]), DomainError),
    "nan": (lambda X: np.log(X[:, 0]), DomainError),
    "infinite": (lambda X: X[:, 0] / 0.0, DomainError),
    "objects": (lambda X: np.array([None] * len(X)), InputError),
    "text": (lambda X: np.array(["a"] * len(X)), InputError),
    "nothing": (lambda X: None, InputError),
    "another shape": (lambda X: X[:1, 0], InputError),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_what_is_no_real_finite_number_is_refused(name):
    f, error = BAD[name]
    f.__name__ = "strange"
    for kernel in (Constant(1.0).weighted(f), Gaussian().after(lambda X: np.atleast_1d(f(X)).reshape(-1, 1))):
        with pytest.raises(error, match=r"strange|lambda|after needs one row"):
            kernel(ROWS)
    with pytest.raises(error, match="strange"):
        Constant(1.0).weighted(f).diagonal(ROWS)
    with fused_from(0), pytest.raises(error, match="strange"):
        Gaussian().weighted(f)(ROWS)


@pytest.mark.parametrize("given", [None, "a", 1j, float("nan"), [1.0]])
def test_the_same_of_strings(given):
    def strange(text):
        return given

    with pytest.raises(InputError, match="strange"):
        Spectrum(1).weighted(strange)(STRINGS)


def test_maps_of_numbers_refuse_columns_of_objects():
    frame = pd.DataFrame({"s": ["ab", "c"], "n": [1.0, 2.0]})
    for kernel in (Gaussian().after(lambda X: X), Gaussian().scaled([1.0, 2.0]), Linear().after([[1.0, 0.0]])):
        with pytest.raises(InputError, match="column 's' holds strings"):
            (kernel + Spectrum(1).on("s"))(frame)
