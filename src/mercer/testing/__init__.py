"""The laws that every kernel, operator, lift, solver and backend must obey: public, for your own classes too."""

from mercer.testing.backend import check_backend
from mercer.testing.kernel import check_kernel
from mercer.testing.lift import check_lift
from mercer.testing.operator import check_operator
from mercer.testing.solver import check_solver

__all__ = ["check_backend", "check_kernel", "check_lift", "check_operator", "check_solver"]
