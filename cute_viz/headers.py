"""Where the headers of CuTe and of CUDA are on this machine."""

from __future__ import annotations

import os
from importlib.util import find_spec


def cute_headers() -> str | None:
    """The folder of CuTe's headers: CUTE_VIZ_CUTLASS, CUTLASS_PATH, or the package nvidia-cutlass; None without any."""
    home = os.environ.get("CUTLASS_PATH")
    places = (
        os.environ.get("CUTE_VIZ_CUTLASS"),
        home and os.path.join(home, "include"),
        home,
        package("cutlass_library", "source", "include"),
    )
    return next((place for place in places if place and os.path.isfile(os.path.join(place, "cute", "layout.hpp"))), None)


def cuda_headers() -> list[str]:
    """The folders of one toolkit's headers, the first that is found, as two toolkits do not mix; empty without any."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [package("nvidia.cu13", "include"), *(os.path.join(home, "include") for home in homes if home)]
    for path in places:
        folders = [path, os.path.join(path, "cccl")] if path else []
        if any(os.path.isfile(os.path.join(folder, "cuda", "std", "cassert")) for folder in folders):
            return folders
    wheels = (package(f"nvidia.{name}", "include") for name in ("cuda_runtime", "cuda_cccl", "cuda_nvcc"))
    return [path for path in wheels if path]


def package(name: str, *inside: str) -> str | None:
    """A folder of an installed package, whether it has code or not; None where it is not installed."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        if os.path.isdir(path := os.path.join(place, *inside)):
            return path
    return None
