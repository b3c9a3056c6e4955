"""Tests of scikit-learn that Mercer fails on purpose: which, by what error, and for what reason.

One dict for each test file: the name of a test, with `*` for anything, to contracts. A contract is a reason, and a part
of the error that the test then ends with, so that a failure of another kind is not excused. The reasons are those of
docs/how_to/from_scikit_learn.md, "Where Mercer's contract differs", word for word.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

Contracts = dict[str, list[tuple[str, str]]]
"""The name of a test to pairs of a part of its error, "" for any, and a reason."""

ALGORITHM = "Another algorithm: it may need fewer steps, and more calls of a function that is the kernel."
ATTRIBUTES = "There is no `gamma_` and no `order`: the kernel has its numbers (`kernel_`), and tables are in C's order."
CANDIDATES = "Several numbers for `alpha` are candidates, or one per output; the noise of each row is `sample_weight`."
CONSTANT = "The scale of the process is found from y: where y never varies, `variance_` and all deviations are 0."
DRAWS = "Random draws are others; where a bound holds for some draws, it may not for this one."
INDEX = "More features than 64 bits can number, or than memory holds, are refused in words of Mercer's own."
MISSING = '`assign_labels`, `affinity="nearest_neighbors"` and the `penalty` of a perceptron do not exist.'
NAMES = (
    "Names of features say what they are, or count from 1: `x1 x2`, `cos(w1.(x - c) + t1)` with the mean c of the "
    "rows, `nystrom1`."
)
NO_KERNEL = "`additive_chi2` and polynomials of a fractional degree are no kernels, and have no name."
ONE_OBJECT = "A kernel is one object: no `gamma`, `degree` or `coef0` stands beside it, to be ignored or refused."
ONE_NUMBER = "A function that gives an array of one number for two points, or for two tables, is one of points."
STRINGS = 'A Python function of strings or graphs says so, `Function(f, "strings")`; alone it is one of numbers.'
ROUNDING = "Sparse and dense rows give the same features up to rounding, where a test requires all digits of 1e-19."
SHORTEST = "A singular system without a penalty has the shortest solution, with a warning; no error."
SPARSE = "The matrix of a kernel is dense, and `ProductLaplace` takes dense rows alone."
SUBSETS = "`Subsets` has no bias beside a lowest order above 1, and no subsets of more columns than there are."
ZEROS = "Components that are rounding are left out; scikit-learn fills up with zeros."
NOT_UNIQUE = "Where an SVM has several solutions (one class around 0, a linear kernel), another one may be found."
PROBABILITY = "No `probability`: `CalibratedClassifierCV(KernelSVC(), ensemble=False)` has probabilities."
PRIOR = "A process that was not fitted predicts nothing: there is no prior, and no `n_targets`."
PRIVATE = "Private attributes, private functions and deprecations are scikit-learn's own."
SIGMOID = "The sigmoid is not a kernel: its indefinite matrix is refused."
SPARSE_TOO = "A model fitted on dense rows predicts for sparse rows, and the other way round."
THETA = "No `theta`, bounds or gradients: what is open is found by leave-one-out, or by `mercer.tuning.stretch`."
WEIGHTS = "A negative weight is refused; scikit-learn's SVMs leave such rows out."
TIES = "Where f is 0 the first class of a pair has the vote, in predict as in decision_function: no tie is left."
WORDS = "The same refusal, or progress, comes in other words."

OTHER_WORDS = ("Regex pattern did not match", WORDS)
TEST_SVM: Contracts = {
    "test_svr_errors": [("DID NOT RAISE", ONE_NUMBER)],
    "test_libsvm_convergence_warnings*": [("DID NOT WARN", ALGORITHM)],
    "test_custom_kernel_not_array_input*": [("needs numbers for X", STRINGS)],
    "test_negative_sample_weights_mask_all_samples[weights-are-zero*": [OTHER_WORDS],
    "test_negative_sample_weights_mask_all_samples[weights-are-negative*": [("Regex pattern did not match", WEIGHTS)],
    "test_negative_weights_svc_leave_just_one_label*": [("Regex pattern did not match", WEIGHTS)],
    "test_negative_weights_svc_leave_two_labels*": [("sample_weight of finite numbers of at least 0", WEIGHTS)],
    "test_negative_weight_equal_coeffs*": [("sample_weight of finite numbers of at least 0", WEIGHTS)],
    "test_bad_input*": [("DID NOT RAISE", SPARSE_TOO)],
    "test_svc_nonfinite_params*": [OTHER_WORDS],
    "test_sparse_precomputed*": [("got a sparse", WORDS)],
    "test_svc_ovr_tie_breaking*": [("assert not", TIES)],
    "test_tweak_params": [("", PRIVATE)],
    "test_gamma_scale": [("_gamma", PRIVATE)],
    "test_svc_raises_error_internal_representation": [("_n_support", PRIVATE)],
    "test_probability[*": [("no attribute 'predict_proba'", PROBABILITY)],
    "test_hasattr_predict_proba*": [("", PROBABILITY)],
    "test_probability_raises_futurewarning*": [("FutureWarning", PRIVATE)],
    "test_svc_nusvc_probA_probB_deprecated*": [("probA_", PRIVATE)],
}
TEST_SPARSE: Contracts = {
    "test_timeout*": [("DID NOT WARN", ALGORITHM)],
    "test_unsorted_indices*": [("no attribute 'predict_proba'", PROBABILITY)],
    "test_sparse_svc_clone_with_callable_kernel*": [("no attribute 'predict_proba'", PROBABILITY)],
    "test_svc[*-sigmoid-*": [("K is indefinite", SIGMOID)],
    "test_sparse_oneclasssvm[*-sigmoid-*": [("K is indefinite", SIGMOID)],
    "test_sparse_oneclasssvm[*-linear-*": [("", NOT_UNIQUE)],
}

TEST_PAIRWISE: Contracts = {
    "test_kernel_sparse*laplacian*": [("ProductLaplace needs a dense table", SPARSE)],
    "test_pairwise_similarity_sparse_output*": [("assert False", SPARSE)],
}
TEST_KERNEL_PCA: Contracts = {
    "test_kernel_pca_invalid_parameters": [OTHER_WORDS],
    "test_precomputed_kernel_not_psd*": [OTHER_WORDS],
    "test_remove_zero_eig": [("(3, 0) == (3, 2)", ZEROS)],
    "test_kernel_conditioning": [("== 0", ZEROS)],
    "test_kernel_pca_inverse_correct_gamma*": [("gamma_", ATTRIBUTES)],
}
TEST_SPECTRAL: Contracts = {
    "test_spectral_clustering*": [("NotImplementedError: assign_labels", MISSING)],
    "test_precomputed_nearest_neighbors_filtering*": [("NotImplementedError: affinity", MISSING)],
    "test_affinities*": [("NotImplementedError: affinity", MISSING)],
    "test_verbose*": [("Computing label assignment", WORDS)],
}
TEST_KERNEL_APPROXIMATION: Contracts = {
    "test_polynomial_count_sketch_dense_sparse*": [("Not equal to tolerance", ROUNDING)],
    "test_rbf_sampler": [("<= 0.01", DRAWS)],
    "test_rbf_sampler_gamma_scale": [("_gamma", PRIVATE)],
    "test_nystroem_approximation": [("additive_chi2", NO_KERNEL)],
    "test_nystroem_poly_kernel_params": [("Arrays are not almost equal", NO_KERNEL)],
    "test_nystroem_callable": [("(10 * (10 - 1)) / 2", ALGORITHM)],
    "test_nystroem_precomputed_kernel": [("DID NOT RAISE", ONE_OBJECT)],
    "test_get_feature_names_out*": [("Arrays are not equal", NAMES)],
}
TEST_POLYNOMIAL: Contracts = {
    "test_num_combinations*": [("_combinations", PRIVATE)],
    "test_csr_polynomial_expansion_index_overflow*": [("_num_combinations", PRIVATE)],
    "test_csr_polynomial_expansion_too_large_to_index*": [("BudgetError", INDEX), ("a bias beside", SUBSETS)],
    "test_polynomial_features_*_feature*": [("a bias beside", SUBSETS), ("Subsets needs subsets", SUBSETS)],
    "test_polynomial_features_behaviour_on_zero_degree*": [OTHER_WORDS],
    "test_polynomial_features_input_validation*": [OTHER_WORDS],
    "test_polynomial_feature_names": [("x0 (ACTUAL), x1 (DESIRED)", NAMES)],
    "test_polynomial_and_spline_array_order*": [("order='F'", ATTRIBUTES)],
}
TEST_GPR: Contracts = {
    "test_lml_improving*": [("'theta'", THETA)],
    "test_lml_precomputed*": [("'theta'", THETA)],
    "test_lml_without_cloning_kernel*": [("'theta'", THETA)],
    "test_lml_gradient*": [("function of theta", THETA)],
    "test_gpr_lml_error": [("function of theta", THETA)],
    "test_converged_to_local_maximum*": [("'theta'", THETA)],
    "test_solution_inside_bounds*": [("'bounds'", THETA)],
    "test_no_optimizer*": [("'theta'", THETA)],
    "test_anisotropic_kernel": [("'theta'", THETA)],
    "test_random_starts": [("'theta'", THETA)],
    "test_large_variance_y": [("Not equal to tolerance rtol=0.07", THETA)],
    "test_y_multioutput": [("'theta'", THETA)],  # means, deviations and draws of two outputs were compared before
    "test_custom_optimizer*": [("'theta'", THETA)],
    "test_warning_bounds": [("DID NOT WARN", THETA)],
    "test_gpr_fit_error[params0*": [("DID NOT RAISE", CANDIDATES)],
    "test_gpr_fit_error[params1*": [("DID NOT RAISE", THETA)],
    "test_prior*": [("NotFittedError", PRIOR)],
    "test_no_fit_default_predict": [("NotFittedError", PRIOR)],
    "test_sample_y_shape_with_prior*": [("NotFittedError", PRIOR)],
    "test_predict_shape_with_prior*": [("NotFittedError", PRIOR)],
    "test_n_targets_error": [("DID NOT RAISE", PRIOR)],
    "test_gpr_correct_error_message": [("DID NOT RAISE", SHORTEST)],
    "test_constant_target*": [("nan location mismatch", CONSTANT)],
    "test_gpr_predict_error": [("at most one of return_std and return_cov", WORDS)],
}

CONTRACTS: dict[str, Contracts] = {
    "test_svm": TEST_SVM,
    "test_sparse": TEST_SPARSE,
    "test_pairwise": TEST_PAIRWISE,
    "test_kernel_pca": TEST_KERNEL_PCA,
    "test_perceptron": {"test_perceptron_l1_ratio": [("!=", MISSING)]},
    "test_spectral": TEST_SPECTRAL,
    "test_kernel_approximation": TEST_KERNEL_APPROXIMATION,
    "test_polynomial": TEST_POLYNOMIAL,
    "test_gpr": TEST_GPR,
    # One line for each further test file.
}


def reason_of(file: str, test: str, error: str) -> str | None:
    """Why a test may fail with an error; None where there is no contract."""
    for pattern, known in CONTRACTS.get(file, {}).items():
        if fnmatchcase(test.replace("[", "("), pattern.replace("[", "(")):  # brackets are parameters, not sets
            for part, reason in known:
                if part in error:
                    return reason
    return None


def reasons() -> set[str]:
    """All reasons that some contract has."""
    return {reason for tests in CONTRACTS.values() for known in tests.values() for _, reason in known}
