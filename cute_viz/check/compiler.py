"""CUDA C++ -> PTX, or the compiler's complaint: NVRTC where it is installed, else nvcc. Needs CuTe's headers, no GPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from typing import Any

from cute_viz.errors import CannotCheck
from cute_viz.headers import cuda_headers, cute_headers

NEEDS = "pip install 'cute-viz[gpu,cute]' brings NVRTC and the headers; or name them: CUTE_VIZ_CUTLASS=.../include, CUDA_HOME=..."
_STANDARD = "--std=c++17"


def compile_(source: str, architecture: int = 80) -> tuple[str, str]:
    """(PTX, log): the PTX is empty when the text does not compile, and the log says why.

    architecture: 90 for compute_90. Raises: CannotCheck without a compiler or headers.
    """
    headers = cute_headers()
    if headers is None:
        raise CannotCheck("CuTe's headers were not found", hint=NEEDS)
    flags = [_STANDARD, f"-I{headers}"]
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError):
        return _nvcc(source, architecture, flags)
    flags += [f"-I{folder}" for folder in cuda_headers()]
    return _nvrtc(nvrtc, source, [*flags, f"--gpu-architecture=compute_{architecture}", "-default-device"])


def _nvrtc(nvrtc: object, source: str, flags: list[str]) -> tuple[str, str]:
    def ask(call: str, *arguments: object) -> Any:
        status, *results = getattr(nvrtc, call)(*arguments)
        if int(status) and call != "nvrtcCompileProgram":
            raise CannotCheck(f"{call} failed with {status}", hint=NEEDS)
        return (int(status), *results)

    _, program = ask("nvrtcCreateProgram", source.encode(), b"check.cu", 0, [], [])
    failed = ask("nvrtcCompileProgram", program, len(flags), [flag.encode() for flag in flags])[0]
    text = []
    for what in ("ProgramLog", "PTX"):
        if what == "PTX" and failed:
            text.append("")
            continue
        size = ask(f"nvrtcGet{what}Size", program)[1]
        buffer = bytes(size)
        ask(f"nvrtcGet{what}", program, buffer)
        text.append(buffer.rstrip(b"\0").decode(errors="replace"))
    return text[1], text[0]


def _nvcc(source: str, architecture: int, flags: list[str]) -> tuple[str, str]:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise CannotCheck("there is no CUDA compiler: neither NVRTC nor nvcc", hint=NEEDS)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "check.cu"), os.path.join(folder, "check.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        command = [nvcc, "-ptx", f"-arch=compute_{architecture}", "--expt-relaxed-constexpr", *flags, path, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return "", done.stdout + done.stderr
        with open(out, encoding="utf-8") as file:
            return file.read(), done.stderr
