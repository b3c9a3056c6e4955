"""Pictures of fitted models and of tests, in the habit of scikit-learn; matplotlib is imported when one is drawn."""

from mercer.displays.clusters import ClusterDisplay
from mercer.displays.components import ComponentsDisplay
from mercer.displays.confusion import ConfusionDisplay
from mercer.displays.importance import ImportanceDisplay
from mercer.displays.learning_curve import LearningCurveDisplay
from mercer.displays.null import NullDisplay
from mercer.displays.residuals import ResidualsDisplay
from mercer.displays.scree import ScreeDisplay

__all__ = [
    "ClusterDisplay",
    "ComponentsDisplay",
    "ConfusionDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "NullDisplay",
    "ResidualsDisplay",
    "ScreeDisplay",
]
