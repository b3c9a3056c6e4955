"""Kernels of graphs: what a graph is here, how graphs come in, and one kernel per file."""

from mercer.kernels.graphs.graph import Graph as Graph
from mercer.kernels.graphs.tables import graphs_of as graphs_of
