"""Cards of lifts and learners: fitted and not, alone and inside of what scikit-learn draws."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_lift import INSTANCES, concrete_lifts, text_of
from html_reader import SCRIPTED, read
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import mercer
from mercer import KernelRidge, KernelSVC, learners
from mercer import kernels as k
from mercer.lifts import Nystrom, Polynomial
from mercer.solvers import ConjugateGradient

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(50, 3))
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.where(Y > 0.5, "high", "low")
LEARNERS = {name: getattr(learners, name) for name in learners.__all__}
LIFTS = {text_of(lift): lift for kind in INSTANCES.values() for lift in kind}


def fitted(model, X=X):
    target = LABELS if sklearn.base.is_classifier(model) else Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small data and hasty settings
        return clone(model).fit(X, target)


def unchanged(model):
    """The card, once it is known that it left everything where it was."""
    before = dict(vars(model))
    card = model._repr_html_()
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    return read(card)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_show_parameters_and_once_fitted_kernel_and_plan(name):
    model = LEARNERS[name]()
    page = unchanged(model)
    assert page.words[:3] == [name, " ", "not fitted"]
    assert all(parameter in page.words for parameter in model.get_params(deep=False))
    assert "cannot be shown" not in page.text
    done = fitted(model)
    page = unchanged(done)
    assert page.words[:4] == [name, " ", "fitted", " 3 columns"] or "not converged" in page.words[:5]
    assert str(done.plan_).partition("\n")[0] in page.words
    assert "cannot be shown" not in page.text
    if hasattr(done, "kernel_") and done.kernel_ is not None:
        assert str(done.kernel_) in page.text
    stored = [each for each in vars(done) if each.endswith("_") and each not in ("kernel_", "lift_", "plan_")]
    assert set(stored) <= set(page.words)


def test_all_lifts_are_here():
    assert {type(lift) for lift in LIFTS.values()} | {mercer.lifts.Counts} >= concrete_lifts()


@pytest.mark.parametrize("name", LIFTS)
def test_lifts_have_cards(name):
    page = unchanged(LIFTS[name])
    assert page.words[2] == "not fitted"
    done = fitted(LIFTS[name], np.abs(X))
    page = unchanged(done)
    assert page.words[2] == "fitted"
    kernel = mercer.parse(done.kernel) if isinstance(done.kernel, str) else done.kernel
    assert str(getattr(done, "kernel_", kernel))[:500] in page.text
    assert "cannot be shown" not in page.text


def test_the_lift_of_counts_has_a_card():
    assert "spectrum" in unchanged(mercer.lift(k.Spectrum(2), ["ab", SCRIPTED])).text


def test_parameters_that_were_set_stand_apart():
    page = read(KernelRidge(k.Gaussian(2.0), alpha=0.125)._repr_html_())
    place = page.words.index("alpha")
    assert page.words[place + 1] == "0.125"
    assert place < page.words.index("13 parameters as they are by default")


def test_what_is_private_stays_so():
    model = KernelRidge(alpha=0.1).fit(X, Y)
    model._hidden_, model.seen_ = 1, 2
    words = read(model._repr_html_()).words
    assert "seen_" in words
    assert "_hidden_" not in words


@pytest.mark.parametrize("converged", [False, np.False_])
def test_a_fit_that_did_not_converge_says_so(converged):
    class Stopped(KernelRidge):
        converged_ = converged

    assert "not converged" not in read(KernelRidge(alpha=0.1).fit(X, Y)._repr_html_()).words
    assert "not converged" in read(Stopped(alpha=0.1).fit(X, Y)._repr_html_()).words[:5]


def test_columns_labels_and_parameters_are_escaped():
    frame = pd.DataFrame(X, columns=[SCRIPTED, "b", "<i>"])
    model = KernelSVC(k.Gaussian(1.0).on([SCRIPTED]), class_weight={SCRIPTED: 1.0, "low": 2.0})
    card = model.fit(frame, np.where(LABELS == "high", SCRIPTED, "low"))._repr_html_()
    assert "<script" not in card
    assert "<i>" not in card
    assert SCRIPTED in read(card).text


@pytest.mark.parametrize(
    "kernel",
    ["no kernel at all", "precomputed", 7, None, k.Gaussian],
    ids=["text", "precomputed", "number", "none", "class"],
)
def test_a_wrong_kernel_is_shown_as_it_came(kernel):
    page = read(KernelRidge(kernel)._repr_html_())
    assert "cannot be shown" not in page.text
    assert kernel is None or getattr(kernel, "__name__", str(kernel)) in page.text


def test_large_models_have_small_cards():
    wide = RANDOM.normal(size=(60, 2000))
    names = [f"{SCRIPTED} {j}" for j in range(2000)]
    kernel = k.Columns([(name, k.Gaussian(1.0)) for name in names])
    assert unchanged(
        KernelRidge(kernel, alpha=1.0).fit(pd.DataFrame(wide, columns=names), Y[:50].tolist() + [0.0] * 10)
    )
    assert unchanged(KernelRidge(k.Linear().after(wide), alpha=RANDOM.normal(size=100_000)))


# -- what is not asked ------------------------------------------------------------------------------------------------


class Watchful(KernelRidge):
    """A learner that is not to be asked for anything that it would have to compute."""

    @property
    def certificate_(self):
        raise AssertionError("a card has asked for the certificate")

    leverage_ = degrees_of_freedom_ = dual_coef_ = coef_ = variance_ = noise_ = certificate_


@pytest.mark.parametrize("show", [lambda m: m._repr_html_(), estimator_html_repr], ids=["card", "diagram"])
def test_no_property_is_asked(show):
    assert "Watchful" in show(Watchful(alpha=0.1).fit(X, Y))


def test_a_certificate_is_shown_once_it_is_known():
    model = KernelRidge(Nystrom("gaussian(1)", n_components=9, random_state=0), alpha=0.1).fit(X, Y)
    assert "certificate_" not in read(model._repr_html_()).words
    told = str(model.certificate_)
    assert told[:200] in read(model._repr_html_()).text


# -- beside scikit-learn ----------------------------------------------------------------------------------------------


def test_notebooks_get_our_card_and_the_text():
    bundle = KernelRidge()._repr_mimebundle_()
    assert bundle == {"text/plain": "KernelRidge()", "text/html": KernelRidge()._repr_html_()}
    with sklearn.config_context(display="text"):
        assert list(KernelRidge()._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(KernelRidge(), "_repr_html_")


@pytest.mark.parametrize("solver", ["auto", ConjugateGradient()], ids=["auto", "gradients"])
def test_pipelines_are_drawn_by_scikit_learn(solver):
    pipeline = make_pipeline(StandardScaler(), Polynomial(2), KernelRidge("linear", alpha=0.1, solver=solver))
    for each in (pipeline, clone(pipeline).fit(X, Y)):
        drawn = each._repr_html_()
        assert "sk-top-container" in drawn
        assert all(name in drawn for name in ("StandardScaler", "Polynomial", "KernelRidge"))
        assert "mercer-card" not in drawn


def test_searches_are_drawn_by_scikit_learn():
    search = GridSearchCV(KernelRidge(), {"alpha": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert "KernelRidge" in search._repr_html_()


def test_scikit_learn_can_still_draw_one_of_ours():
    assert "sk-top-container" in estimator_html_repr(fitted(KernelRidge()))


def test_every_estimator_has_the_same_card_methods():
    for each in [*LEARNERS.values(), *concrete_lifts()]:
        names = [cls.__name__ for cls in inspect.getmro(each)]
        assert names.index("ShownEstimator") < names.index("BaseEstimator")
