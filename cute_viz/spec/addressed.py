"""The objects of source files that specs name by their addresses, `layout: kernel.cu::sA`, and the files that they depend on."""

from __future__ import annotations

from collections.abc import Mapping

from cute_viz.errors import CuteVizError
from cute_viz.files import read_text
from cute_viz.source.address import Address, Folder, address_of
from cute_viz.source.model import Given
from cute_viz.source.opened import depends, opened
from cute_viz.spec import Library
from cute_viz.spec.yaml import Value


def value_at(address: Address, folder: Folder | None, names: Mapping[str, object], library: Library) -> object:
    """The object that an address means; what the spec binds is given for the names of that file. Raises: CuteVizError for a file
    that leads out of the folder, or is none of source code; what is wrong in it, with the place."""
    if folder is None:
        raise CuteVizError("files cannot be read here", name=address.file)
    path = folder.path(address.file)
    try:
        file = opened(read_text(path, folder.root), path, Given(names, library.resolve), folder=folder, check=False)
        if file is None or not address.name:
            raise CuteVizError("this names no object of a source file", hint=f"write {address.file}::NAME")
        return file.find(address.name).read()
    except CuteVizError as error:
        raise error.named(path) from None
    except OSError as error:
        raise CuteVizError(error.strerror or str(error), name=path) from None


def files_of(value: Value | None, folder: Folder | None) -> list[str]:
    """The files that a part of a spec depends on, by the addresses in it; none of one that cannot be read, as drawing it says
    why."""
    if isinstance(value, str):
        address = address_of(value)
        try:
            return depends(folder.path(address.file), folder) if address is not None and folder is not None else []
        except (CuteVizError, OSError):
            return []
    parts = list(value.values()) if isinstance(value, dict) else value or []
    return list(dict.fromkeys(path for part in parts for path in files_of(part, folder)))
