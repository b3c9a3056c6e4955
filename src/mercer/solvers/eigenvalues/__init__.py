"""Leading eigenvectors, and the ends of a spectrum, by products alone."""
