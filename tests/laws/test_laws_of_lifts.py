"""Every lift obeys the laws of lifts."""

import pytest
from every_lift import INSTANCES, concrete_lifts, text_of

from mercer.lifts import Counts
from mercer.testing import check_lift


def test_every_lift_is_checked():
    """Nobody forgets the export line, by which a lift gets here and into model files."""
    assert concrete_lifts() - {Counts} == set(INSTANCES)  # that one takes no numbers
    assert all(isinstance(lift, cls) for cls, instances in INSTANCES.items() for lift in instances)


@pytest.mark.parametrize("lift", [lift for instances in INSTANCES.values() for lift in instances], ids=text_of)
def test_every_lift_obeys_the_laws(lift):
    check_lift(lift)
