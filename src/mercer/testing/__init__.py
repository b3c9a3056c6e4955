"""The laws that every kernel and every operator must obey: public, for your own classes too."""

from mercer.testing.kernel import check_kernel
from mercer.testing.operator import check_operator

__all__ = ["check_kernel", "check_operator"]
