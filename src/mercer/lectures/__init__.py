"""Four lectures on kernel methods: their exercises and worked examples, decided, marked and drawn; and their slips."""

from mercer.lectures.catalogue import example as example
from mercer.lectures.catalogue import examples as examples
from mercer.lectures.catalogue import exercise as exercise
from mercer.lectures.catalogue import exercises as exercises
from mercer.lectures.catalogue import slips as slips
from mercer.lectures.example_record import Example as Example
from mercer.lectures.exercise_record import Exercise as Exercise
from mercer.lectures.exercise_record import Mark as Mark
from mercer.lectures.slip_record import Slip as Slip
from mercer.lectures.verdict import Verdict as Verdict
