"""Proofs and refutations: the lectures' questions, known truths by dimension and domain, and what must stay open."""

import math

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.special
from hypothesis import assume, given
from strategies import trees

import mercer
from mercer.errors import KernelError
from mercer.kernels import (
    ChiSquared,
    Constant,
    Cosine,
    Dot,
    Epanechnikov,
    ExponentialChiSquared,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Min,
    Polynomial,
    ProductSinc,
    Radial,
    Sigmoid,
    Sinc,
    Wendland,
)
from mercer.kernels.domain import INTEGERS, NONNEGATIVE, SPHERE
from mercer.kernels.proof.judgement import Fact
from mercer.kernels.proof.prove import _asymmetry
from mercer.kernels.proof.subject import FunctionSubject


def assert_refuted(kernel, d=None, domain=None):
    """Prove, expect a refutation by points, and recompute its witness with plain NumPy."""
    proof = mercer.prove(kernel, d=d, domain=domain, time_limit=None)
    assert proof.status == "refuted", str(proof)
    witness = proof.witness
    assert isinstance(witness, mercer.Witness)
    assert witness.value < 0
    assert witness.points.shape == (len(witness.weights), proof.dimension)
    assert np.abs(witness.weights).max() == pytest.approx(1.0)
    if isinstance(proof.kernel, mercer.kernels.Kernel):
        if domain is None and not proof.kernel.is_open:
            K = proof.kernel(witness.points)
            assert witness.weights @ K @ witness.weights == pytest.approx(witness.value, rel=1e-6)
        assert witness.digits == 50
    assert not mercer.kernels.domain.domain_named(proof.domain).misfits(witness.points).any()
    return proof


def assert_proven(kernel, d=None, domain=None):
    proof = mercer.prove(kernel, d=d, domain=domain)
    assert proof.status == "proven", str(proof)
    assert proof.witness is None
    return proof


class TestExercise21:
    """Which of these are kernels? (Lecture 001.)"""

    @pytest.mark.parametrize("text", ["1", "linear", "1 + linear", "(1 + linear)**2"])
    def test_a_to_d(self, text):
        assert assert_proven(text).max_dimension is None

    def test_e_the_exponential_of_a_sum(self):
        proof = assert_proven(Constant(1.0).weighted(np.exp), d=1)
        assert "rule of the weight" in str(proof)

    def test_f_min_on_the_integers(self):
        proof = assert_refuted("min", domain="integers")
        assert proof.domain == "integers"
        witness = proof.witness
        assert witness.points.tolist() == [[-1.0]]
        assert witness.value == -1.0

    @pytest.mark.parametrize("domain", [None, "nonnegative", "naturals"])
    def test_min_where_it_is_one(self, domain):
        assert assert_proven("min", domain=domain).max_dimension is None

    def test_the_four_rules_are_named(self):
        steps = " ".join(assert_proven((1 + Linear()) * Linear().weighted(np.ravel)).steps)
        for rule in ("rule of the constant", "rule of the weight", "sum rule", "product rule"):
            assert rule in steps


class TestByDimension:
    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_sinc_is_a_kernel_to_three(self, d):
        assert_proven("sinc", d=d)

    @pytest.mark.parametrize("d", [4, 5])
    def test_sinc_is_none_from_four(self, d):
        assert_refuted("sinc(lengthscale=0.3)", d=d)

    def test_sinc_without_d_says_how_far(self):
        assert assert_proven("sinc").max_dimension == 3
        assert "d <= 3" in assert_proven("sinc").claim

    def test_the_product_sinc_is_one_everywhere(self):
        assert assert_proven(ProductSinc(), d=40).max_dimension is None

    @pytest.mark.parametrize(("dimension", "most"), [(1, 1), (2, 3), (3, 3), (4, 5), (5, 5)])
    @pytest.mark.parametrize("smoothness", [0, 1, 2, 3])
    def test_wendland_says_its_dimension(self, dimension, smoothness, most):
        assert assert_proven(Wendland(dimension, smoothness)).max_dimension == most

    def test_triangles(self):
        """max(0, 1 - r)^p is a kernel exactly for p >= (d + 1) / 2 (Askey; Golubov)."""
        assert_proven(Wendland(1, 0), d=1)
        assert_refuted(Wendland(1, 0, lengthscale=5.0), d=2)
        assert_refuted(Wendland(1, 0), d=3)
        assert_proven(Wendland(3, 0), d=3)

    @pytest.mark.parametrize(("dimension", "smoothness", "d"), [(3, 0, 4), (3, 0, 5), (3, 1, 4), (1, 2, 2), (2, 1, 5)])
    def test_small_violations_are_shown_by_a_frequency(self, dimension, smoothness, d):
        """Recomputed by quadrature, from the values of the kernel alone."""
        proof = mercer.prove(Wendland(dimension, smoothness, lengthscale=2.0), d=d)
        assert (proof.status, type(proof.witness)) == ("refuted", mercer.SpectralWitness)
        assert proof.witness.value == pytest.approx(
            spectrum_by_quadrature(dimension, smoothness, 2.0 * proof.witness.frequency, d), rel=1e-6
        )
        assert proof.witness.value < 0

    @pytest.mark.parametrize("dimension", [1, 2, 3, 4, 7, 20])
    @pytest.mark.parametrize("smoothness", [0, 1, 2, 3])
    def test_wendland_is_refuted_from_the_next_dimension_on(self, dimension, smoothness):
        kernel = Wendland(dimension, smoothness)
        most = mercer.prove(kernel).max_dimension
        assert mercer.prove(kernel, d=most).status == "proven"
        for d in (most + 1, most + 2, most + 7):
            assert mercer.prove(kernel, d=d).status == "refuted"

    def test_a_small_violation_of_a_kernel_of_your_own(self):
        class Askey(Radial):
            argument = "distance"

            def profile(self, u):
                return np.maximum(1 - u, 0.0) ** 2

        witness = mercer.prove(Askey(), d=5, time_limit=None).witness
        assert isinstance(witness, mercer.SpectralWitness)
        assert witness.digits == 50
        assert np.isfinite(witness.window)
        assert mercer.prove(Askey(), d=3).status == "unknown"

    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_epanechnikov_never(self, d):
        proof = assert_refuted(Epanechnikov(2.0), d=d)
        assert "Fourier transform" in str(proof)

    def test_a_limit_below_a_wrapper_does_not_leak(self):
        assert assert_proven(Sinc().on([0, 1, 2]) * Gaussian().on([3, 4])).max_dimension is None
        assert "d = 7" in assert_proven(Sinc().after(np.ones((2, 7)))).claim
        assert "d = 2" in assert_proven(Gaussian() + 2 * Sinc().scaled([1.0, 2.0]) ** 2).claim
        assert mercer.prove(Sinc().scaled([1.0, 2.0]), d=3).status == "unknown"
        assert assert_refuted(Sigmoid().scaled([1.0, 1.0, 2.0])).dimension == 3
        assert assert_proven(Sinc() * Gaussian()).max_dimension == 3
        assert assert_proven(Sinc() + Wendland(1, 0)).max_dimension == 1
        assert mercer.prove(Sinc().after(np.sin)).status != "proven"


class TestNotKernels:
    @pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.5, 1.0), (1.0, -1.0), (2.0, 3.0), (-1.0, 0.0)])
    @pytest.mark.parametrize("d", [1, 2])
    def test_sigmoid(self, slope, offset, d):
        assert_refuted(Sigmoid(slope, offset), d=d)

    def test_sigmoid_with_slope_zero_is_a_constant(self):
        assert_proven(Sigmoid(0.0, 1.0))
        assert_refuted(Sigmoid(0.0, -1.0), d=1)

    def test_a_fractional_power_of_the_inner_product(self):
        proof = mercer.prove(lambda x, z: max(0.0, 9 + x @ z) ** 1.5, d=1)
        assert proof.status == "refuted"
        assert proof.witness.value < 0

    def test_min_on_the_reals(self):
        assert_refuted("min", d=1, domain="reals")
        assert_refuted("min", d=3, domain="reals")

    @pytest.mark.parametrize("domain", ["reals", "integers"])
    @pytest.mark.parametrize(
        ("kernel", "formula"),
        [
            (ChiSquared(), lambda x, z: 2 * x * z / (x + z) if x * z else mpmath.mpf(0)),
            (ExponentialChiSquared(), lambda x, z: mpmath.exp(-((x - z) ** 2) / (x + z) if x != z else mpmath.mpf(0))),
        ],
        ids=["chi squared", "exponential"],
    )
    def test_kernels_of_histograms_with_negative_numbers(self, kernel, formula, domain):
        """The witness is one of the formula, which has no value where x + z = 0."""
        witness = assert_refuted(kernel, d=1, domain=domain).witness
        x, c = ([mpmath.mpf(float(v)) for v in values] for values in (witness.points[:, 0], witness.weights))
        form = sum(c[i] * c[j] * formula(x[i], x[j]) for i in range(len(x)) for j in range(len(x)))
        assert float(form) == pytest.approx(witness.value, rel=1e-9)

    def test_the_periodic_kernel_on_the_euclidean_distance(self):
        def euclidean_periodic(x, z):
            return math.exp(-2 * math.sin(math.pi * np.linalg.norm(x - z)) ** 2)

        assert mercer.prove(euclidean_periodic, d=2).status == "refuted"

    def test_a_composite_is_refuted_as_a_whole(self):
        proof = assert_refuted(Sigmoid() + 0.001 * Gaussian(), d=1)
        assert proof.steps[4].endswith(
            "would be a kernel: the sum of kernels is a kernel (sum rule); but its premises are not shown (step 1)"
        )
        assert_refuted(Gaussian() * Epanechnikov(), d=1)

    def test_a_normalized_function_that_is_not_defined_everywhere(self):
        proof = mercer.prove(Sigmoid(1.0, -1.0).normalized(), d=1)
        assert proof.trials > 0
        assert proof.status in ("refuted", "unknown")

    def test_maps_that_need_a_certain_number_of_columns(self):
        def second_and_third(X):
            return X[:, [1, 2]]

        assert assert_refuted(Sigmoid().after(second_and_third)).dimension == 3
        proof = mercer.prove(Sigmoid().after(second_and_third), d=2)
        assert proof.status == "unknown"
        assert "cannot be evaluated on 2 columns" in str(proof)

    def test_columns_with_names(self):
        proof = assert_refuted(Sigmoid().on(["age"]), domain="reals")
        assert proof.dimension == 1


class TestUnknown:
    def test_a_repaired_kernel_may_be_one_but_is_not_proven(self):
        """A bounded non-kernel plus a large ridge on one point is beyond the rules: no proof, and no witness."""
        proof = mercer.prove(Epanechnikov(1.0) * 1e-9 + Laplace(0.5), d=1)
        assert proof.status == "unknown"
        assert proof.trials > 100
        assert "proves nothing" in str(proof)

    def test_sampling_never_proves(self):
        proof = mercer.prove(lambda x, z: float(x @ z), d=2)
        assert proof.status == "unknown"
        assert proof.trials > 100
        assert f"{proof.trials:,} sets" in str(proof)

    def test_a_kernel_of_your_own_without_facts(self):
        class Cauchy(Radial):
            lengthscale: float = 1.0

            def profile(self, u):
                return 1 / (1 + u)

        proof = mercer.prove(Cauchy(), d=2)
        assert proof.status == "unknown"
        assert "Bochner" in str(proof)

        class CauchyWithFact(Cauchy):
            def facts(self):
                return (Fact(mercer.kernels.domain.REALS, "it is a mixture of Gaussians"),)

        assert mercer.prove(CauchyWithFact()).status == "proven"

    def test_a_kernel_of_your_own_that_is_none(self):
        class Bump(Radial):
            def profile(self, u):
                return np.exp(-u * u)

        class Cube(Dot):
            def profile(self, t):
                return t**3 - t

        assert_refuted(Bump(), d=1)
        assert_refuted(Cube(), d=1)


class TestFunctions:
    def test_asymmetry_is_a_witness(self):
        proof = mercer.prove(lambda x, z: float(x[0]), d=1)
        assert proof.status == "refuted"
        x, z = proof.witness.points
        assert (proof.witness.forward, proof.witness.backward) == (x[0], z[0])
        assert "symmetric" in str(proof)

    def test_rounding_is_no_asymmetry(self):
        """On the integers some values are 0 in truth: what is left of them is rounding, of either order its own."""

        def bilinear(x, z):
            return 0.7 * x[0] * z[0] + 0.1 * x[0] * z[1] + 0.1 * x[1] * z[0] + 0.4 * x[1] * z[1]

        points = INTEGERS.place(np.random.default_rng(0).normal(scale=2.0, size=(12, 2)))
        values = [(bilinear(x, z), bilinear(z, x)) for x in points for z in points]
        assert any(abs(a - b) > 1e-9 * max(abs(a), abs(b)) for a, b in values)
        assert _asymmetry(FunctionSubject(bilinear), 2, INTEGERS) is None
        skewed = _asymmetry(FunctionSubject(lambda x, z: bilinear(x, z) + 1e-6 * x[0]), 2, INTEGERS)
        assert abs(skewed.forward - skewed.backward) > 9e-7

    def test_an_infinite_diagonal_hides_no_asymmetry(self):
        found = _asymmetry(FunctionSubject(lambda x, z: np.inf if x[0] == z[0] else float(x[0])), 1, INTEGERS)
        assert (found.forward, found.backward) == tuple(found.points[:, 0])

    def test_d_is_tried_upwards(self):
        def triangle(x, z):
            return max(0.0, 1 - float(np.linalg.norm(x - z)))

        proof = mercer.prove(triangle, time_limit=None)
        assert (proof.status, proof.dimension) == ("refuted", 2)

    def test_a_function_of_scalars_on_the_integers(self):
        assert mercer.prove(min, d=1, domain="integers").witness.points.tolist() == [[-1.0]]

    def test_a_function_that_needs_more_coordinates_hears_of_d(self):
        with pytest.raises(IndexError) as caught:
            mercer.prove(lambda x, z: x[1] * z[1])
        assert any("d = 1" in note for note in caught.value.__notes__)
        assert mercer.prove(lambda x, z: -x[1] * z[1], d=2).status == "refuted"

    def test_a_function_must_give_numbers(self):
        with pytest.raises(ValueError, match="one real number"):
            mercer.prove(lambda x, z: x, d=2)
        with pytest.raises(ValueError, match="one real number"):
            mercer.prove(lambda x, z: "near", d=2)


class TestDomains:
    @pytest.mark.parametrize("domain", ["reals", "nonnegative", "integers", "naturals", "sphere"])
    def test_what_holds_on_the_reals_holds_everywhere(self, domain):
        assert_proven(Gaussian() * Linear() + Matern(0.5), domain=domain)

    def test_composites_are_stated_where_all_parts_are(self):
        assert (Min() + Gaussian()).domain is NONNEGATIVE
        assert assert_proven(Min() + Gaussian()).domain is NONNEGATIVE

    def test_maps_carry_domains(self):
        assert_proven(Min().after([[1.0, 2.0]]), domain="nonnegative")
        assert_proven(Min().scaled([2.0, 3.0]), domain="nonnegative")
        assert_refuted(Min().after([[1.0, -1.0]]), domain="nonnegative")

    def test_a_map_is_stated_on_what_it_leads_into_the_domain(self):
        proof = assert_proven(Min().after(np.negative) + Gaussian())
        assert "the points x with negative(x) in the non-negative reals" in proof.claim
        assert mercer.prove(Min().after(np.negative), domain="reals").status == "refuted"
        assert mercer.prove(Min().after(np.abs), domain="reals").status == "proven"  # abs is known
        assert mercer.prove(Min().after(np.square), domain="reals").status == "unknown"  # true, and beyond the rules
        assert "A x in the non-negative reals" in assert_proven(Min().after([[1.0, -1.0]])).claim
        both = Min() * Min().after(np.negative)
        assert assert_proven(both).domain.misfits(np.array([[1.0], [0.0], [-1.0]])).ravel().tolist() == [
            True,
            False,
            True,
        ]
        assert mercer.prove(Sigmoid() + Min().after(np.negative)).status == "unknown"
        assert_proven(Min().on([0]) + Min().after(np.negative))
        assert_proven(Min().after(np.negative).on([1]).scaled([1.0, 2.0]) * Gaussian())

    def test_a_domain_that_binds_coordinates_together(self):
        class OnSphere(Dot):
            def profile(self, t):
                return t

            @property
            def domain(self):
                return SPHERE

            def facts(self):
                return (Fact(SPHERE, "it is stated there"),)

        assert assert_proven(OnSphere()).domain == SPHERE
        chosen = assert_proven(OnSphere().on([0, 1]))
        assert "x[0, 1] in the unit sphere" in chosen.claim
        assert chosen.domain.misfits(np.array([[0.6, 0.8, 9.0], [0.6, 0.6, 0.0]]))[:, 0].tolist() == [False, True]
        assert mercer.prove(OnSphere().on([0]), domain="sphere", d=3).status == "unknown"
        with pytest.raises(mercer.errors.DomainError, match="rows of length one"):
            OnSphere()([[1.0, 1.0]])

    def test_a_part_of_the_sphere_is_no_sphere(self):
        assert_proven(Linear().on([0]), domain="sphere", d=3)

    def test_a_refutation_stays_inside_the_domain(self):
        proof = assert_refuted(Sigmoid(3.0), d=2, domain="nonnegative")
        assert (proof.witness.points >= 0).all()
        whole = assert_refuted(Sigmoid(3.0), d=2, domain="integers").witness.points
        assert (whole == np.rint(whole)).all()

    def test_unknown_domains_are_named(self):
        with pytest.raises(KernelError, match="reals, nonnegative"):
            mercer.prove("linear", domain="quaternions")


class TestAnswers:
    def test_a_proof_reads_well(self):
        assert str(mercer.prove("gaussian(lengthscale=2) + linear*linear")) == PROOF.strip()

    def test_html_is_escaped(self):
        page = mercer.prove(Linear().on(["<script>"]))._repr_html_()
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert "proven" in page
        assert "Witness" in mercer.prove(Sigmoid(), d=1)._repr_html_()

    def test_open_kernels_are_proven_as_they_are(self):
        assert_proven(Gaussian("median") + Sinc("median"), d=2)
        proof = mercer.prove(Epanechnikov("median"), d=1)
        assert proof.status == "refuted"
        assert "its open numbers are taken as 1 here" in proof.steps
        assert "open numbers" not in str(mercer.prove(Epanechnikov(), d=1))

    @pytest.mark.parametrize("d", [0, -1, 1.5, True, "two"])
    def test_d_must_be_a_number_of_columns(self, d):
        with pytest.raises(KernelError, match="at least 1"):
            mercer.prove("linear", d=d)

    def test_something_else_is_refused(self):
        with pytest.raises(KernelError, match="kernel, a text or a function"):
            mercer.prove(3)

    def test_columns_that_do_not_exist(self):
        proof = mercer.prove(Gaussian().on([5]), d=2)
        assert proof.status == "unknown"
        assert "do not exist" in str(proof)

    @given(trees)
    def test_property_valid_parts_make_a_proof(self, kernel):
        assume(not any(isinstance(leaf, Wendland) and leaf.dimension == 1 for leaf in leaves_of(kernel)))
        assert mercer.prove(kernel, domain="nonnegative", d=2).status == "proven"


PROOF = """
[proven] gaussian(lengthscale=2.0) + linear*linear is a kernel on the reals, for every d.
  1. gaussian(lengthscale=2.0) is a kernel on the reals, for every d: its Fourier transform is (2
     pi)^(d/2) lengthscale^d exp(-lengthscale^2 |w|^2 / 2), which is positive for every frequency w
     (Bochner's theorem).
  2. linear is a kernel on the reals, for every d: it is the inner product itself, with the lift
     phi(x) = x.
  3. linear*linear is a kernel: the product of kernels is a kernel (product rule; Schur's theorem)
     [by step 2].
  4. gaussian(lengthscale=2.0) + linear*linear is a kernel: the sum of kernels is a kernel (sum
     rule) [by steps 1 and 3].
"""


def spectrum_by_quadrature(dimension, smoothness, w, d):
    """The d-dimensional Fourier transform of max(0, 1 - u)^n p(u), as a part of its integral."""
    kernel = Wendland(dimension, smoothness)
    power, polynomial = kernel.order + smoothness, kernel.coefficients
    with mpmath.workdps(40):

        def phi(u):
            return (1 - u) ** power * sum(mpmath.mpf(c) * u**i for i, c in enumerate(polynomial)) * u ** (d - 1)

        edges = mpmath.linspace(0, 1, max(3, int(w / 4)))
        wave = mpmath.quad(lambda u: phi(u) * mpmath.hyp0f1(mpmath.mpf(d) / 2, -((w * u) ** 2) / 4), edges)
        return float(wave / mpmath.quad(phi, [0, 1]))


def test_the_numbers_in_the_objections_are_true():
    t = np.linspace(1e-3, 60, 600_001)
    assert (2 * scipy.special.j1(t) / t).min() > -0.133
    assert (np.sin(t) / t).min() < -0.217
    assert 4 * (math.sin(6) - 6 * math.cos(6)) / 6**3 < 0
    wave, _ = scipy.integrate.quad(lambda r: (1 - r * r) * math.cos(6 * r), -1, 1)
    assert wave == pytest.approx(4 * (math.sin(6) - 6 * math.cos(6)) / 6**3)


def leaves_of(kernel):
    return [kernel] if not kernel.children else [leaf for child in kernel.children for leaf in leaves_of(child)]


def test_cosine_is_proven_and_its_fractional_power_refused():
    assert_proven(Cosine() ** 3)
    assert_proven(Polynomial(3, 0.5))
    assert_proven(mercer.exp(Linear()) ** 0.5)
