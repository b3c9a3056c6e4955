"""From texts to trees: tokens, the grammar over them, the arithmetic of what it meets, and the words of formulas."""

from mercer.kernels.formulas.reading.read import Read as Read
from mercer.kernels.formulas.reading.read import read_tree as read_tree
