"""What the suite does not collect here: pages of the gallery run when they are imported, and have tests of their own."""

collect_ignore_glob = ["gallery/*"]
