"""Every kernel of graphs obeys the laws of kernels, on graphs of all kinds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.graphs.oracles import collections

from mercer.kernels.graphs import Graph
from mercer.kernels.graphs.edge_histogram import EdgeHistogram
from mercer.kernels.graphs.graphlet import Graphlet
from mercer.kernels.graphs.random_walk import RandomWalk
from mercer.kernels.graphs.shortest_path import ShortestPath
from mercer.kernels.graphs.vertex_histogram import VertexHistogram
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from mercer.testing import check_kernel

KERNELS = [
    VertexHistogram(),
    EdgeHistogram(),
    EdgeHistogram(ends=True),
    WeisfeilerLehman(),
    WeisfeilerLehman(2, edge_labels=True),
    ShortestPath(),
    ShortestPath(labels=False),
    Graphlet(),
    Graphlet(4),
    RandomWalk(),
    RandomWalk(0.02, labels=False),
    RandomWalk(0.02, labels=True, edge_labels=True),
    (WeisfeilerLehman(1) + ShortestPath()).normalized() * RandomWalk(0.01),
]
RING = Graph(5, [(i, (i + 1) % 5) for i in range(5)], "CCCNO", "--=-=")


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_laws(kernel):
    check_kernel(kernel)


@settings(max_examples=15)
@given(kernel=st.sampled_from(KERNELS), some=collections)
def test_the_laws_on_any_graphs(kernel, some):
    check_kernel(kernel, X=[RING, *some, RING])


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=str)
def test_only_graphs_are_taken(kernel):
    with pytest.raises(ValueError, match="needs graphs"):
        kernel(["C", "CC"])
    with pytest.raises(ValueError, match="needs"):
        kernel(np.ones((2, 3)))
