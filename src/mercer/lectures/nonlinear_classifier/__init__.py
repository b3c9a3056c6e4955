"""The lecture "Nonlinear classifier"."""

from mercer.lectures.exercise_record import Exercise
from mercer.lectures.nonlinear_classifier import exercise_17, exercise_18, exercise_19, exercise_20, exercise_21
from mercer.lectures.nonlinear_classifier.slips import SLIPS as SLIPS
from mercer.lectures.nonlinear_classifier.worked import EXAMPLES as EXAMPLES

EXERCISES: tuple[Exercise, ...] = tuple(
    part.EXERCISE for part in (exercise_17, exercise_18, exercise_19, exercise_20, exercise_21)
)
