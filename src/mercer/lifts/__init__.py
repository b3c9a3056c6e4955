"""phi(x): feature maps as scikit-learn transformers, each tied to the kernel that it induces or approximates."""

from mercer.lifts.base import Lift as Lift
from mercer.lifts.certificate import Certificate as Certificate
