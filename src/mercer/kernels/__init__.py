"""k(x, z): kernels as trees, one export line a kernel. `mercer.parse` knows every kernel that stands here."""

from mercer.kernels.algebra import After, Exp, Normalized, On, Power, Product, Scaled, Sum, Weighted, exp
from mercer.kernels.base import Kernel
from mercer.kernels.constant import Constant
from mercer.kernels.coordinate.base import Coordinate
from mercer.kernels.coordinate.chi_squared import ChiSquared
from mercer.kernels.coordinate.exponential_chi_squared import ExponentialChiSquared
from mercer.kernels.coordinate.min import Min
from mercer.kernels.coordinate.periodic import Periodic
from mercer.kernels.coordinate.product_laplace import ProductLaplace
from mercer.kernels.coordinate.product_sinc import ProductSinc
from mercer.kernels.coordinate.subsets import Subsets
from mercer.kernels.dot.angular import Angular
from mercer.kernels.dot.arc_cosine import ArcCosine
from mercer.kernels.dot.base import Dot
from mercer.kernels.dot.cosine import Cosine
from mercer.kernels.dot.exponential import Exponential
from mercer.kernels.dot.linear import Linear
from mercer.kernels.dot.polynomial import Polynomial
from mercer.kernels.dot.sigmoid import Sigmoid
from mercer.kernels.radial.base import Radial
from mercer.kernels.radial.epanechnikov import Epanechnikov
from mercer.kernels.radial.gaussian import Gaussian
from mercer.kernels.radial.laplace import Laplace
from mercer.kernels.radial.matern import Matern
from mercer.kernels.radial.rational_quadratic import RationalQuadratic
from mercer.kernels.radial.sinc import Sinc
from mercer.kernels.radial.wendland import Wendland
