"""k(x, z): kernels as trees. `mercer.parse` knows every kernel that stands here."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.kernels.algebra import After as After
    from mercer.kernels.algebra import Exp as Exp
    from mercer.kernels.algebra import Normalized as Normalized
    from mercer.kernels.algebra import On as On
    from mercer.kernels.algebra import Power as Power
    from mercer.kernels.algebra import Product as Product
    from mercer.kernels.algebra import Scaled as Scaled
    from mercer.kernels.algebra import Sum as Sum
    from mercer.kernels.algebra import Weighted as Weighted
    from mercer.kernels.algebra.exp import exp as exp
    from mercer.kernels.base import Kernel as Kernel
    from mercer.kernels.categories.gapped import Gapped as Gapped
    from mercer.kernels.categories.hamming import Hamming as Hamming
    from mercer.kernels.categories.match import Match as Match
    from mercer.kernels.categories.ordinal import Ordinal as Ordinal
    from mercer.kernels.constant import Constant as Constant
    from mercer.kernels.coordinate.base import Coordinate as Coordinate
    from mercer.kernels.coordinate.chi_squared import ChiSquared as ChiSquared
    from mercer.kernels.coordinate.exponential_chi_squared import ExponentialChiSquared as ExponentialChiSquared
    from mercer.kernels.coordinate.min import Min as Min
    from mercer.kernels.coordinate.monomials import Monomials as Monomials
    from mercer.kernels.coordinate.periodic import Periodic as Periodic
    from mercer.kernels.coordinate.powers import Powers as Powers
    from mercer.kernels.coordinate.product_laplace import ProductLaplace as ProductLaplace
    from mercer.kernels.coordinate.product_sinc import ProductSinc as ProductSinc
    from mercer.kernels.coordinate.subsets import Subsets as Subsets
    from mercer.kernels.coordinate.trigonometric import Trigonometric as Trigonometric
    from mercer.kernels.domain import INTEGERS as INTEGERS
    from mercer.kernels.domain import NATURALS as NATURALS
    from mercer.kernels.domain import NONNEGATIVE as NONNEGATIVE
    from mercer.kernels.domain import REALS as REALS
    from mercer.kernels.domain import SPHERE as SPHERE
    from mercer.kernels.dot.angular import Angular as Angular
    from mercer.kernels.dot.arc_cosine import ArcCosine as ArcCosine
    from mercer.kernels.dot.base import Dot as Dot
    from mercer.kernels.dot.cosine import Cosine as Cosine
    from mercer.kernels.dot.exponential import Exponential as Exponential
    from mercer.kernels.dot.geodesic import Geodesic as Geodesic
    from mercer.kernels.dot.linear import Linear as Linear
    from mercer.kernels.dot.parabolic import Parabolic as Parabolic
    from mercer.kernels.dot.polynomial import Polynomial as Polynomial
    from mercer.kernels.dot.sigmoid import Sigmoid as Sigmoid
    from mercer.kernels.fields import integer as integer
    from mercer.kernels.fields import length as length
    from mercer.kernels.fields import nonnegative as nonnegative
    from mercer.kernels.fields import number as number
    from mercer.kernels.fields import positive as positive
    from mercer.kernels.function import Function as Function
    from mercer.kernels.graphs.edge_histogram import EdgeHistogram as EdgeHistogram
    from mercer.kernels.graphs.graph import Graph as Graph
    from mercer.kernels.graphs.graphlet import Graphlet as Graphlet
    from mercer.kernels.graphs.random_walk import RandomWalk as RandomWalk
    from mercer.kernels.graphs.shortest_path import ShortestPath as ShortestPath
    from mercer.kernels.graphs.vertex_histogram import VertexHistogram as VertexHistogram
    from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman as WeisfeilerLehman
    from mercer.kernels.law import Law as Law
    from mercer.kernels.lift_builder import LiftBuilder as LiftBuilder
    from mercer.kernels.median import median_distance as median_distance
    from mercer.kernels.proof.judgement import Fact as Fact
    from mercer.kernels.radial.base import Radial as Radial
    from mercer.kernels.radial.epanechnikov import Epanechnikov as Epanechnikov
    from mercer.kernels.radial.gaussian import Gaussian as Gaussian
    from mercer.kernels.radial.laplace import Laplace as Laplace
    from mercer.kernels.radial.matern import Matern as Matern
    from mercer.kernels.radial.rational_quadratic import RationalQuadratic as RationalQuadratic
    from mercer.kernels.radial.sinc import Sinc as Sinc
    from mercer.kernels.radial.wendland import Wendland as Wendland
    from mercer.kernels.strings.bag_of_words import BagOfWords as BagOfWords
    from mercer.kernels.strings.blended_spectrum import BlendedSpectrum as BlendedSpectrum
    from mercer.kernels.strings.common_subsequence import CommonSubsequence as CommonSubsequence
    from mercer.kernels.strings.edit_similarity import EditSimilarity as EditSimilarity
    from mercer.kernels.strings.gappy_subsequence import GappySubsequence as GappySubsequence
    from mercer.kernels.strings.mismatch import Mismatch as Mismatch
    from mercer.kernels.strings.spectrum import Spectrum as Spectrum
    from mercer.kernels.strings.weighted_degree import WeightedDegree as WeightedDegree
    from mercer.kernels.tables.columns import Columns as Columns
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "After": "algebra",
            "Angular": "dot.angular",
            "ArcCosine": "dot.arc_cosine",
            "Geodesic": "dot.geodesic",
            "BagOfWords": "strings.bag_of_words",
            "BlendedSpectrum": "strings.blended_spectrum",
            "ChiSquared": "coordinate.chi_squared",
            "Columns": "tables.columns",
            "CommonSubsequence": "strings.common_subsequence",
            "Constant": "constant",
            "Coordinate": "coordinate.base",
            "Cosine": "dot.cosine",
            "Dot": "dot.base",
            "EdgeHistogram": "graphs.edge_histogram",
            "EditSimilarity": "strings.edit_similarity",
            "Epanechnikov": "radial.epanechnikov",
            "Exp": "algebra",
            "Exponential": "dot.exponential",
            "ExponentialChiSquared": "coordinate.exponential_chi_squared",
            "Fact": "proof.judgement",
            "Function": "function",
            "Gapped": "categories.gapped",
            "GappySubsequence": "strings.gappy_subsequence",
            "Gaussian": "radial.gaussian",
            "Graph": "graphs.graph",
            "Graphlet": "graphs.graphlet",
            "Hamming": "categories.hamming",
            "INTEGERS": "domain",
            "Kernel": "base",
            "Laplace": "radial.laplace",
            "Law": "law",
            "LiftBuilder": "lift_builder",
            "Linear": "dot.linear",
            "Match": "categories.match",
            "Matern": "radial.matern",
            "Min": "coordinate.min",
            "Mismatch": "strings.mismatch",
            "Monomials": "coordinate.monomials",
            "NATURALS": "domain",
            "NONNEGATIVE": "domain",
            "Normalized": "algebra",
            "On": "algebra",
            "Ordinal": "categories.ordinal",
            "Parabolic": "dot.parabolic",
            "Periodic": "coordinate.periodic",
            "Polynomial": "dot.polynomial",
            "Power": "algebra",
            "Powers": "coordinate.powers",
            "Product": "algebra",
            "ProductLaplace": "coordinate.product_laplace",
            "ProductSinc": "coordinate.product_sinc",
            "REALS": "domain",
            "Radial": "radial.base",
            "RandomWalk": "graphs.random_walk",
            "RationalQuadratic": "radial.rational_quadratic",
            "SPHERE": "domain",
            "Scaled": "algebra",
            "ShortestPath": "graphs.shortest_path",
            "Sigmoid": "dot.sigmoid",
            "Sinc": "radial.sinc",
            "Spectrum": "strings.spectrum",
            "Subsets": "coordinate.subsets",
            "Sum": "algebra",
            "Trigonometric": "coordinate.trigonometric",
            "VertexHistogram": "graphs.vertex_histogram",
            "Weighted": "algebra",
            "WeightedDegree": "strings.weighted_degree",
            "WeisfeilerLehman": "graphs.weisfeiler_lehman",
            "Wendland": "radial.wendland",
            "exp": "algebra.exp",
            "integer": "fields",
            "length": "fields",
            "median_distance": "median",
            "nonnegative": "fields",
            "number": "fields",
            "positive": "fields",
        },
    )
