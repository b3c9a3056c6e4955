"""Real molecules: the values that GraKeL gives, and an accuracy in the published range."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import KernelRidgeClassifier
from mercer.kernels.graphs import graphs_of
from mercer.kernels.graphs.shortest_path import ShortestPath
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman

DATA = Path(__file__).parents[3] / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def mutag():
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet files are read by pyarrow")
    if not (DATA / "MUTAG.parquet").exists():
        pytest.skip("the folder of real data is not here")
    table = parquet.read_table(DATA / "MUTAG.parquet")
    return graphs_of(table), np.array(table["target"].to_pylist())


@pytest.mark.parametrize(
    ("kernel", "total", "trace", "first"),
    [
        (WeisfeilerLehman(5), 10152522, 80148, [412, 210, 206, 399, 131]),
        (ShortestPath(), 202174524, 1555976, [6660, 2950, 2950, 8746, 1298]),
    ],
    ids=str,
)
def test_the_values_of_grakel(mutag, kernel, total, trace, first):
    """GraKeL 0.1.11, WeisfeilerLehman(n_iter=5) and ShortestPath(with_labels=True)."""
    graphs, _ = mutag
    K = kernel(graphs)
    assert (K.sum(), K.trace()) == (total, trace)
    assert K[0, :5].tolist() == first


def test_the_accuracy_that_is_published(mutag):
    graphs, y = mutag
    model = KernelRidgeClassifier(WeisfeilerLehman(5).normalized())
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    assert 0.8 < cross_val_score(model, graphs, y, cv=folds).mean() < 0.95
