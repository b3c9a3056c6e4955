"""Generated text becomes machine code: compiled by Numba, kept on disk for other processes, loaded once a process.

The directory is MERCER_CACHE_DIR, or the user's cache directory. The name of a file is a hash of its text, and its
folder names Python, Numba and the processor, so that nothing that is found there is ever stale. A file is written
under another name and moved into place, with a fixed date: processes that compile the same formula at once write the
same thing twice, and neither makes the other's work stale.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import logging
import os
import platform
import shutil
import stat
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import ModuleType

LOG = logging.getLogger("mercer.compute")
_LOCK = threading.Lock()
_LOADED: dict[str, ModuleType] = {}


def load(text: str) -> ModuleType:
    """The module of a text; its functions are compiled when they are first called, or come from the disk."""
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    with _LOCK:
        if key not in _LOADED:
            _LOADED[key] = _import(_written(key, text))
        return _LOADED[key]


@cache
def numba_works() -> bool:
    """Whether Numba can be imported here."""
    try:
        import numba  # noqa: F401
    except ImportError:
        LOG.warning("Numba cannot be imported; Mercer evaluates kernels with NumPy, which is slower.")
        return False
    return True


def _written(key: str, text: str) -> Path:
    path = directory() / f"mercer_{key}.py"
    if not path.exists():
        LOG.warning("Mercer compiles a new formula: a few seconds, once. The code is kept in %s.", path.parent)
        descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(draft, (1, 1))
        os.replace(draft, path)
    return path


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # Numba finds the module of cached code by its name
    spec.loader.exec_module(module)
    return module


@cache
def directory() -> Path:
    """Where compiled code is kept: a directory that only this user can write to."""
    import numba

    machine = hashlib.sha256("|".join([platform.machine(), _processor()]).encode()).hexdigest()[:12]
    name = f"numba{numba.__version__}-{sys.implementation.cache_tag}-{machine}"
    path = _root() / name
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if _private(path):
            return path
    except OSError as error:
        LOG.info("%s cannot be used: %s", path, error)
    LOG.warning("Mercer cannot keep compiled code in %s; it compiles anew in every process.", path)
    private = tempfile.mkdtemp(prefix="mercer-")
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    return Path(private)


def _root() -> Path:
    chosen = os.environ.get("MERCER_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "mercer"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mercer"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mercer"


def _private(path: Path) -> bool:
    """Whether nobody else can put code there, and this process can."""
    if not os.access(path, os.W_OK):
        return False
    if not hasattr(os, "getuid"):
        return True
    about = path.stat()
    return about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _processor() -> str:
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()}|{binding.get_host_cpu_features().flatten()}"
