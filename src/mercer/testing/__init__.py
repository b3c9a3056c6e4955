"""The laws that every kernel must obey: public, for your own classes too."""

from mercer.testing.kernel import check_kernel

__all__ = ["check_kernel"]
