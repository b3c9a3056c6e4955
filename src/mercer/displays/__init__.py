"""Plots of fitted models and of tests, like scikit-learn's displays; matplotlib is imported when one is drawn."""

from mercer.displays.basis import BasisDisplay
from mercer.displays.boundary import BoundaryDisplay
from mercer.displays.clusters import ClusterDisplay
from mercer.displays.components import ComponentsDisplay
from mercer.displays.cost import CostDisplay
from mercer.displays.curve import CurveDisplay
from mercer.displays.descent import DescentDisplay
from mercer.displays.gram import GramDisplay
from mercer.displays.history import HistoryDisplay
from mercer.displays.importance import ImportanceDisplay
from mercer.displays.leave_one_out import LeaveOneOutDisplay
from mercer.displays.lift_error import LiftErrorDisplay
from mercer.displays.null import NullDisplay
from mercer.displays.parabolic import ParabolicDisplay
from mercer.displays.scree import ScreeDisplay
from mercer.displays.separation import SeparationDisplay
from mercer.displays.steps import StepsDisplay

__all__ = [
    "BasisDisplay",
    "BoundaryDisplay",
    "ClusterDisplay",
    "ComponentsDisplay",
    "CostDisplay",
    "CurveDisplay",
    "DescentDisplay",
    "GramDisplay",
    "HistoryDisplay",
    "ImportanceDisplay",
    "LeaveOneOutDisplay",
    "LiftErrorDisplay",
    "NullDisplay",
    "ParabolicDisplay",
    "ScreeDisplay",
    "SeparationDisplay",
    "StepsDisplay",
]
