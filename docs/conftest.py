"""What the suite does not collect here: pages of the gallery run when imported, and have tests of their own."""

collect_ignore_glob = ["gallery/*"]
