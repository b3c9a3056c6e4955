"""Kernels of tables whose columns are of several kinds: composed column by column, or proposed from a look at them."""

from mercer.kernels.tables.columns import Columns as Columns
from mercer.kernels.tables.kernel_for import kernel_for as kernel_for
from mercer.kernels.tables.proposal import Proposal as Proposal
