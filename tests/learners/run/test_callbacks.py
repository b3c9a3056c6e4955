"""scikit-learn's callbacks: a fit as a tree of tasks; with an older scikit-learn there are none."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.compute.runtime.run import Stopped
from mercer.learners.run.callbacks import CallbackSupport
from mercer.learners.run.fit_run import Terms, watched
from mercer.planner.plan import Plan, Stage
from mercer.planner.ridge import RidgeDetails
from mercer.solvers import Cholesky

theirs = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


def plan(*stages):
    stages = tuple(Stage(name, seconds) for name, seconds in stages)
    return Plan(
        "one pass",
        9,
        2,
        1,
        1,
        sum(stage.seconds for stage in stages),
        stages,
        RidgeDetails("primal", Cholesky()),
        n_features=5,
    )


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Mean(RegressorMixin):
    """A model whose fit takes ten seconds of a clock of its own, in two stages."""

    def __init__(self, shift=0.0, fails=False):
        self.shift = shift
        self.fails = fails

    def fit(self, X, y):
        clock = Clock()
        with watched("Mean", self, Terms.of(None, "raise", "auto", None), clock) as run:
            run.follow(plan(("pass", 8.0), ("solve", 2.0)), X=X, y=y)
            try:
                with run.stage("pass", 40), run.stoppable():
                    for step in range(40):
                        clock.now += 0.2
                        run.tell(step + 1)
            except Stopped as stopped:
                self.reason_ = str(stopped)
            with run.stage("solve"):
                clock.now += 2.0
                if self.fails:
                    raise ArithmeticError("no mean")
            self.mean_ = np.mean(y) + self.shift
            run.ready()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Modern(Mean, CallbackSupport, BaseEstimator):
    pass


class Diary:
    """Writes down what it is told."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append(("setup", context.task_name, context.max_subtasks))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.seen.append(("begin", context.task_name, context.task_id, context.max_subtasks, X is not None))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        parent = context.parent.task_name if context.parent is not None else None
        assert context.root_uuid is not None
        mean = fitted_estimator.predict([[0.0]])[0] if isinstance(fitted_estimator, Mean) else None
        self.seen.append(("end", context.task_name, context.task_id, parent, mean))
        return context.task_name == "step" and context.task_id == self.stop_at

    def teardown(self, estimator, context):
        self.seen.append(("teardown", context.task_name, context.estimator_name))


X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)


def test_a_fit_is_a_tree_of_tasks():
    diary = Diary()
    model = Modern().set_callbacks(diary).fit(X, Y)
    steps = [entry for entry in diary.seen if entry[1] == "step"]
    others = [entry for entry in diary.seen if entry[1] != "step"]
    assert others == [
        ("setup", "fit", 2),
        ("begin", "fit", 0, 2, True),
        ("begin", "pass", 0, 80, False),
        ("end", "pass", 0, "fit", None),
        ("begin", "solve", 1, 20, False),
        ("end", "solve", 1, "fit", None),
        ("end", "fit", 0, None, 2.5),
        ("teardown", "fit", "Modern"),
    ]
    assert [entry[2] for entry in steps if entry[0] == "end"] == list(range(80))
    assert all(entry[3] == "pass" for entry in steps if entry[0] == "end")
    assert not {"_callback_fit_ctx", "_skl_callbacks_to_teardown"} & vars(model).keys()


def test_a_callback_stops_a_fit():
    diary = Diary(stop_at=30)
    model = Modern().set_callbacks(diary).fit(X, Y)
    assert model.reason_ == "a callback asked to stop"
    assert model.mean_ == 2.5
    assert max(entry[2] for entry in diary.seen if entry[1] == "step") < 35
    assert diary.seen[-2:] == [("end", "fit", 0, None, 2.5), ("teardown", "fit", "Modern")]


def test_teardown_also_after_a_failure():
    diary = Diary()
    with pytest.raises(ArithmeticError, match="no mean"):
        Modern(fails=True).set_callbacks(diary).fit(X, Y)
    assert diary.seen[-1] == ("teardown", "fit", "Modern")
    assert ("end", "fit") not in [entry[:2] for entry in diary.seen]


class Fragile(Diary):
    def teardown(self, estimator, context):
        super().teardown(estimator, context)
        raise OSError("broken")


def test_all_are_torn_down_and_failures_are_told():
    diaries = [Fragile(), Diary(), Fragile()]
    with pytest.raises(OSError, match="broken"):
        Modern().set_callbacks(*diaries[:2]).fit(X, Y)
    assert diaries[1].seen[-1][0] == "teardown"
    with pytest.raises(ExceptionGroup):
        Modern().set_callbacks(*diaries).fit(X, Y)


def test_clones_and_copies_keep_callbacks():
    diary = Diary()
    model = Modern().set_callbacks(diary)
    clone(model).fit(X, Y)
    assert diary.seen[-1][0] == "teardown"
    copied = pickle.loads(pickle.dumps(model))  # noqa: S301
    copied.fit(X, Y)
    assert len(copied._skl_callbacks[0].seen) == 2 * len(diary.seen)
    assert not hasattr(clone(model.set_callbacks()), "_skl_callbacks")


def test_what_is_no_callback_is_refused():
    with pytest.raises(TypeError, match="callbacks"):
        Modern().set_callbacks(Diary)
    with pytest.raises(TypeError, match="callbacks"):
        Modern().set_callbacks(print)


class Strange(Diary):
    def on_fit_task_begin(self, estimator, context, *, loss):
        raise AssertionError


def test_keywords_that_nobody_offers_are_refused():
    strange = Strange()
    with pytest.raises(TypeError, match="loss"):
        Modern().set_callbacks(strange).fit(X, Y)
    assert strange.seen[-1][0] == "teardown"


def test_without_callbacks_nothing_is_built(monkeypatch):
    monkeypatch.setattr("mercer.learners.run.fit_run.Tree", None)
    assert Modern().fit(X, Y).mean_ == 2.5


def test_inside_a_search():
    diary = Diary()
    search = GridSearchCV(Modern().set_callbacks(diary), {"shift": [0.0, 1.0]}, cv=2)
    search.fit(X, Y)
    assert sum(entry[0] == "teardown" for entry in diary.seen) == 5  # two folds of two candidates, and the best


class HandedDown(Diary):
    max_propagation_depth = None


def test_handed_down_by_a_search_and_a_pipeline():
    diary = HandedDown()
    search = GridSearchCV(make_pipeline(StandardScaler(), Modern()), {"modern__shift": [0.0, 1.0]}, cv=2)
    search.set_callbacks(diary).fit(X, Y)
    assert sum(entry[0] == "setup" for entry in diary.seen) == 1
    assert sum(entry[:2] == ("begin", "pass") for entry in diary.seen) == 5
    assert sum(entry[:2] == ("end", "solve") for entry in diary.seen) == 5
    assert diary.seen[-1] == ("teardown", "fit", "GridSearchCV")


def test_their_progress_bar_and_scores(capsys):
    pytest.importorskip("rich")
    monitor = theirs.ScoringMonitor(scoring="neg_mean_squared_error")
    Modern().set_callbacks(theirs.ProgressBar(), monitor).fit(X, Y)
    shown = capsys.readouterr().out
    assert "Modern - fit" in shown
    assert "Modern - pass #0" in shown
    assert shown.count("100%") >= 3
    (row,) = monitor.get_logs().data
    assert row["task_name"] == "fit"
    assert row["neg_mean_squared_error"] == pytest.approx(-np.var(Y))


def test_a_model_that_is_not_ready_is_not_handed_out(monkeypatch):
    monkeypatch.setattr("mercer.learners.run.fit_run.Watched.ready", lambda run: None)
    monitor = theirs.ScoringMonitor(scoring="neg_mean_squared_error")
    Modern().set_callbacks(monitor).fit(X, Y)
    with pytest.raises(ValueError, match="No logs"):
        monitor.get_logs()


def test_their_progress_bar_over_a_search(capsys):
    pytest.importorskip("rich")
    search = GridSearchCV(Modern(), {"shift": [0.0, 1.0]}, cv=2).set_callbacks(
        theirs.ProgressBar(max_propagation_depth=2)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, Y)
    assert "Modern - fit" in capsys.readouterr().out


def test_an_older_scikit_learn_has_no_callbacks_and_fits():
    code = """
import sys
sys.modules["sklearn.callback"] = None  # as if there were no such module
import numpy as np
from sklearn.base import clone
from mercer.learners import KernelRidge
model = clone(KernelRidge("gaussian(1)", alpha=0.1)).fit(np.eye(3), np.arange(3.0))
print(hasattr(model, "set_callbacks"), model.predict(np.eye(3)).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "(3,)"]
