"""Tests of scikit-learn that Mercer fails on purpose: which, by what error, and for what reason.

One dict for each test file: the name of a test, with `*` for anything, to contracts. A contract is a reason, and a part
of the error that the test then ends with, so that a failure of another kind is not excused. The reasons are those of
docs/how_to/from_scikit_learn.md, "Where Mercer's contract differs", word for word.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

Contracts = dict[str, list[tuple[str, str]]]
"""The name of a test to pairs of a part of its error, "" for any, and a reason."""

FUNCTION = 'A kernel is an object or a text: a Python function is given as its matrix, kernel="precomputed".'
NOT_UNIQUE = "Where an SVM has several solutions (one class around 0, a linear kernel), another one may be found."
PRIVATE = "Private attributes, private functions and deprecations are scikit-learn's own."
SIGMOID = "The sigmoid is no kernel: its indefinite matrix is refused."
SPARSE_TOO = "A model fitted on dense rows predicts for sparse rows, and the other way round."
WEIGHTS = "A negative weight is refused; scikit-learn's SVMs leave such rows out."
TIES = "Where f is 0 the first class of a pair has the vote, in predict as in decision_function: no tie is left."
WORDS = "The same refusal comes in other words."

NO_FUNCTION = ("needs a kernel, its text, a lift or 'precomputed'", FUNCTION)
OTHER_WORDS = ("Regex pattern did not match", WORDS)
TEST_SVM: Contracts = {
    "test_precomputed": [NO_FUNCTION],
    "test_svr_errors": [NO_FUNCTION],
    "test_svc_clone_with_callable_kernel": [NO_FUNCTION],
    "test_libsvm_convergence_warnings*": [NO_FUNCTION],
    "test_custom_kernel_not_array_input*": [NO_FUNCTION],
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
    "test_probability_raises_futurewarning*": [("FutureWarning", PRIVATE)],
    "test_svc_nusvc_probA_probB_deprecated*": [("probA_", PRIVATE)],
}
TEST_SPARSE: Contracts = {
    "test_svc[*-sigmoid-*": [("K is indefinite", SIGMOID)],
    "test_sparse_oneclasssvm[*-sigmoid-*": [("K is indefinite", SIGMOID)],
    "test_sparse_oneclasssvm[*-linear-*": [("", NOT_UNIQUE)],
    "test_svc_with_custom_kernel*": [NO_FUNCTION],
    "test_timeout*": [NO_FUNCTION],
    "test_sparse_svc_clone_with_callable_kernel*": [NO_FUNCTION],
}

CONTRACTS: dict[str, Contracts] = {
    "test_svm": TEST_SVM,
    "test_sparse": TEST_SPARSE,
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
