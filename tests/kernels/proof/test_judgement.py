"""Which of several facts a proof takes."""

import mercer
from mercer.kernels import Radial
from mercer.kernels.domain import REALS
from mercer.kernels.proof.judgement import Fact


class Twice(Radial):
    """A kernel that two facts know, the weaker one first."""

    weaker = Fact(REALS, "somebody has seen it in space", max_dimension=3)
    stronger = Fact(REALS, "it is a mixture of Gaussians")

    def profile(self, u):
        return 1 / (1 + u)

    def facts(self):
        return (self.weaker, self.stronger)


class Thrice(Twice):
    """Facts of two dimensions, the stronger one first."""

    def facts(self):
        return (Fact(REALS, "seen in five dimensions", max_dimension=5), self.weaker)


def test_the_fact_that_reaches_furthest_is_taken():
    for d in (None, 2, 3):
        assert "it is a mixture of Gaussians" in str(mercer.prove(Twice(), d=d))
    assert mercer.prove(Twice(), d=9).status == "proven"
    proof = str(mercer.prove(Thrice(), d=3))
    assert "for d <= 5: seen in five dimensions" in proof
