"""Mercer: kernel methods and feature lifting, where a kernel and a lift are two readings of one object."""

from mercer import errors, kernels
from mercer.kernels import exp
from mercer.kernels.domain import Domain
from mercer.kernels.proof.prove import prove
from mercer.kernels.proof.record import Asymmetry, Proof, SpectralWitness, Witness
from mercer.kernels.text import parse

__version__ = "0.1.0"

__all__ = ["Asymmetry", "Domain", "Proof", "SpectralWitness", "Witness", "errors", "exp", "kernels", "parse", "prove"]
