"""Files that outlast a power cut."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def flush_folder(folder: Path) -> None:
    """Make a new name last: POSIX keeps it with the folder; other systems cannot, or need not, be asked."""
    if os.name != "posix":
        return
    with suppress(OSError):  # some file systems do not flush folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
