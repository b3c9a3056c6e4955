"""Whether a plane separates two sets of points, decided exactly: the nearest points of their convex hulls."""
