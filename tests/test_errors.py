"""Who a message names."""

import threading
from inspect import signature

import pytest

from mercer.compute.runtime import threads
from mercer.errors import message, speaker, speaking, speaks


class Learner:
    @speaks
    def fit(self, check=lambda: None):
        check()
        return message("rows", "got none", "Give some.")

    @classmethod
    @speaks
    def of(cls):
        return speaker()


class Special(Learner):
    pass


@speaks
def measure(inner=None):
    """Says its own name."""
    return (speaker(), inner() if inner else None, speaker())


def test_a_method_speaks_in_the_name_of_its_class_and_a_function_in_its_own():
    assert Learner().fit() == "Learner needs rows; got none. Give some."
    assert Special().fit().startswith("Special needs")
    assert Special.of() == "Special"
    assert measure() == ("measure", None, "measure")


def test_the_innermost_speaks_and_the_outer_goes_on_afterwards():
    assert measure(Learner().fit)[1].startswith("Learner needs")
    assert measure(measure) == ("measure", ("measure", None, "measure"), "measure")
    with speaking("outer"):
        assert (measure()[0], speaker()) == ("measure", "outer")


def test_the_name_goes_back_where_the_call_fails():
    def fails():
        raise ZeroDivisionError

    before = speaker()
    with pytest.raises(ZeroDivisionError):
        Learner().fit(fails)
    assert speaker() == before


def test_threads_of_others_have_names_of_their_own():
    seen = []
    with speaking("main"):
        other = threading.Thread(target=lambda: seen.append(speaker()))
        other.start()
        other.join()
    assert seen == ["Mercer"]


def test_workers_speak_in_the_name_of_their_caller():
    seen = []
    with speaking("Gram"):
        threads.run(lambda worker, piece, stop: seen.append(speaker()), [[0], [1]], 2)
    assert seen == ["Gram", "Gram"]


def test_a_generator_speaks_at_each_step_and_is_silent_between():
    @speaks
    def steps():
        yield speaker()
        yield speaker()

    found = steps()
    with speaking("outer"):
        assert [(step, speaker()) for step in found] == [("steps", "outer")] * 2


def test_a_message_may_be_about_something_else():
    with speaking("load"):
        told = message("a sound file", "it is empty", "Write it again.", subject="rows.csv")
    assert told == "rows.csv needs a sound file; it is empty. Write it again."


def test_what_is_wrapped_keeps_its_name_text_and_signature():
    assert (measure.__name__, measure.__doc__) == ("measure", "Says its own name.")
    assert str(signature(measure)) == "(inner=None)"
    assert list(signature(Learner().fit).parameters) == ["check"]
