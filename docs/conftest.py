"""Only the Markdown pages are tests: scripts of the gallery and of the build run when the documentation is built."""

collect_ignore_glob = ["*.py", "_ext/*", "gallery/*", "auto_gallery/*"]
