"""Model files made by hand, with a digest that holds: what somebody writes who knows the format and means harm.

Nothing here is shared with the code under test: the layout is written down a second time.
"""

import hashlib
import json
import struct

SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "BOOL": 1, "U8": 1, "I8": 1}


def taken_apart(raw):
    """The record and the tensors, as (dtype, shape, bytes) by name, of the bytes of a file."""
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    metadata, data = header.pop("__metadata__"), raw[8 + length :]
    tensors = {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()
    }
    return json.loads(metadata["record"]), tensors


def entries_of(tensors):
    """The entries of a header, and the bytes behind it."""
    entries, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return entries, data


def put_together(record, tensors, **changes):
    """The bytes of a file with a digest that holds.

    changes : `entries` and `metadata` are functions that change what the header says; `data` comes after it
    """
    entries, data = entries_of(tensors)
    changes.get("entries", lambda given: None)(entries)
    text = record if isinstance(record, str) else json.dumps(record)
    metadata = {"sha256": "0" * 64, "format": "mercer model", "version": "2", "record": text}
    changes.get("metadata", lambda given: None)(metadata)
    header = json.dumps({"__metadata__": metadata, **entries}, separators=(",", ":")).encode()
    return signed(header, changes.get("data", data))


def signed(header, data):
    """A file of a header whose digest is written into its place."""
    start = struct.pack("<Q", len(header))
    digest = hashlib.sha256(start + header + data).hexdigest().encode()
    return start + header.replace(b"0" * 64, digest, 1) + data
