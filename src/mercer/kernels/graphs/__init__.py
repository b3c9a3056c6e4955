"""Kernels of graphs: what a graph is here, how graphs come in, and one kernel per file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.kernels.graphs.graph import Graph as Graph
    from mercer.kernels.graphs.tables import graphs_of as graphs_of
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Graph": "graph",
            "graphs_of": "tables",
        },
    )
