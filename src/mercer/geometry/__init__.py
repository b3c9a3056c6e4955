"""From a linear model on a polynomial lift back to the original space: balls, ellipses, quadrics, inequalities."""

from mercer.geometry.ball import Ball as Ball
from mercer.geometry.base import Shape as Shape
from mercer.geometry.ellipse import Ellipse as Ellipse
from mercer.geometry.ellipse import Ellipsoid as Ellipsoid
from mercer.geometry.express import OnLift as OnLift
from mercer.geometry.halfspace import HalfSpace as HalfSpace
from mercer.geometry.inequality import Inequality as Inequality
from mercer.geometry.packing import packing_bounds as packing_bounds
from mercer.geometry.packing import packing_number as packing_number
from mercer.geometry.pipeline import preimage as preimage
from mercer.geometry.pipeline import region as region
from mercer.geometry.quadric import Quadric as Quadric
from mercer.geometry.separating_plane import separable as separable
from mercer.geometry.separation import HullsMeet as HullsMeet
from mercer.geometry.separation import Separated as Separated
from mercer.geometry.separation import Separation as Separation
from mercer.geometry.separation import Unresolved as Unresolved
from mercer.geometry.whole import Empty as Empty
from mercer.geometry.whole import Everything as Everything
