"""The GPU: the only module that talks to a driver. It loads PTX, runs launches, times them, and returns bytes. And CUDA's compiler.

Needs the extra `gpu` (cuda-bindings) and an NVIDIA driver; the driver itself compiles the PTX. Not cuda-core (read up to 1.2): its
linker takes nvJitLink where that is installed, so that another compiler would decide what is refused, and it does not set how much
shared memory a kernel may ask for; it would stand beside cuda-bindings, not in its place.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cute_viz.check.job import Array, In, KernelRun, Map, Out, Scalar
from cute_viz.errors import CannotCheck
from cute_viz.headers import cuda_headers, cute_headers

NEEDS = "a check needs an NVIDIA GPU with its driver, and: pip install 'cute-viz[gpu]'; `emit=ptx` and `static=` need none"
_LOG = 1 << 14  # bytes of the JIT's error log
_COMPILERS = 16  # threads that compile PTX at a time


class DeviceError(CannotCheck):
    """The driver refused something: a module that does not compile, a launch that fails."""


class Device:
    """One GPU. Raises: CannotCheck without the package, a driver or a device.

    name: such as `NVIDIA H200`. driver: its version. cuda: the CUDA version of the driver. capability: 90 for 9.0.
    """

    def __init__(self, ordinal: int = 0) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise CannotCheck(f"no GPU driver interface: {error}", hint=NEEDS) from None
        self._cuda: Any = driver
        try:
            self._ask("cuInit", 0)
            self._device = self._ask("cuDeviceGet", ordinal)
            self._context = self._ask("cuDevicePrimaryCtxRetain", self._device)
            self._ask("cuCtxSetCurrent", self._context)
        except (DeviceError, RuntimeError, OSError) as error:
            said = str(error).splitlines()[0]
            said = "NVIDIA's driver is not installed" if "driver library" in said else said  # of the loader of libraries
            raise CannotCheck(f"no usable GPU: {said}", hint=NEEDS) from None
        self.name = str(self._ask("cuDeviceGetName", 128, self._device).split(b"\0")[0].decode())
        version = int(self._ask("cuDriverGetVersion"))
        self.cuda = f"{version // 1000}.{version % 1000 // 10}"
        self.driver = _driver_version()
        self.capability = 10 * self._attribute("COMPUTE_CAPABILITY_MAJOR") + self._attribute("COMPUTE_CAPABILITY_MINOR")

    def _ask(self, call: str, *arguments: object) -> Any:
        """One call of the driver API: its result, or a DeviceError with the driver's own words."""
        status, *results = getattr(self._cuda, call)(*arguments)
        if int(status):
            _, name = self._cuda.cuGetErrorName(status)
            _, words = self._cuda.cuGetErrorString(status)
            said = [x.decode() if isinstance(x, bytes) else str(x) for x in (name, words)]
            raise DeviceError(f"{call}: {' '.join(said)}")
        return results[0] if len(results) == 1 else tuple(results)

    def _attribute(self, name: str) -> int:
        attribute = getattr(self._cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._ask("cuDeviceGetAttribute", attribute, self._device))

    def load(self, ptx: str) -> Any:
        """A module from PTX text. Raises: DeviceError for text that the driver's compiler does not take; the error holds its
        log. By way of the driver's linker, which compiles in several threads at once where cuModuleLoadData takes turns."""
        log, option = bytearray(_LOG), self._cuda.CUjit_option
        keys = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        link = self._ask("cuLinkCreate", len(keys), keys, [log, _LOG])
        try:
            text = ptx.encode() + b"\0"
            self._ask("cuLinkAddData", link, self._cuda.CUjitInputType.CU_JIT_INPUT_PTX, text, len(text), b"ptx", 0, [], [])
            image, _ = self._ask("cuLinkComplete", link)
            return self._ask("cuModuleLoadData", image)
        except DeviceError as error:
            said = log.split(b"\0")[0].decode(errors="replace").strip()
            raise DeviceError(f"{error.message}: {said.splitlines()[0] if said else 'no log'}") from None
        finally:
            self._cuda.cuLinkDestroy(link)

    def load_all(self, texts: Sequence[str]) -> list[Array]:
        """A module for each text, compiled side by side; the DeviceError itself in the place of one that is refused."""

        def one(text: str) -> Any:
            self._ask("cuCtxSetCurrent", self._context)  # a context is current in one thread
            try:
                return self.load(text)
            except DeviceError as error:
                return error

        with ThreadPoolExecutor(_COMPILERS) as pool:
            return list(pool.map(one, texts))

    def unload(self, module: object) -> None:
        """Give a module's memory back."""
        self._ask("cuModuleUnload", module)

    def run(self, module: object, launches: Iterable[KernelRun]) -> list[list[bytes]]:
        """Launch after launch, the bytes of each one's `Out` buffers in order."""
        out = []
        for launch in launches:
            buffers, arguments = self._place(launch)
            try:
                self._launch(module, launch, arguments)
                self._ask("cuCtxSynchronize")
                out.append([self._read(pointer, given.size) for given, pointer in buffers if isinstance(given, Out)])
            finally:
                self._free(buffers)
        return out

    def seconds(self, module: object, launch: KernelRun, repeats: int = 20) -> float:
        """The seconds of one launch, by events: the shortest of several after a first that does not count."""
        buffers, arguments = self._place(launch)
        try:
            return self._time(lambda: self._launch(module, launch, arguments), repeats)
        finally:
            self._free(buffers)

    def copy_bandwidth(self, size: int = 1 << 30, repeats: int = 20) -> float:
        """Bytes read and written a second by the driver's own copy from device memory to device memory."""
        pointers = [self._ask("cuMemAlloc", size) for _ in range(2)]
        try:
            return 2 * size / self._time(lambda: self._ask("cuMemcpyDtoDAsync", *pointers, size, 0), repeats)
        finally:
            for pointer in pointers:
                self._ask("cuMemFree", pointer)

    def _time(self, action: Any, repeats: int) -> float:
        start, stop = (self._ask("cuEventCreate", 0) for _ in range(2))
        best = float("inf")
        for n in range(repeats + 1):
            self._ask("cuEventRecord", start, 0)
            action()
            self._ask("cuEventRecord", stop, 0)
            self._ask("cuEventSynchronize", stop)
            if n:
                best = min(best, float(self._ask("cuEventElapsedTime", start, stop)) / 1e3)
        return best

    def _place(self, launch: KernelRun) -> tuple[list[tuple[Any, Any]], list[Any]]:
        """The buffers of a launch in device memory, and its arguments as C values in order."""
        buffers: list[tuple[Any, Any]] = []
        by_place: dict[int, Any] = {}
        for n, given in enumerate(launch.arguments):
            if isinstance(given, (In, Out)):
                size = given.size if isinstance(given, Out) else len(given.data)
                pointer = self._ask("cuMemAlloc", max(16, size))
                buffers.append((given, pointer))
                by_place[n] = pointer
                if isinstance(given, Out):
                    self._ask("cuMemsetD8", pointer, given.fill, size)
                else:
                    self._ask("cuMemcpyHtoD", pointer, given.data, size)
        arguments: list[Any] = []
        for n, given in enumerate(launch.arguments):
            if isinstance(given, Scalar):
                arguments.append((ctypes.c_uint64 if given.size == 8 else ctypes.c_uint32)(given.value % (1 << 8 * given.size)))
            elif isinstance(given, Map):
                arguments.append(self._map(given, by_place[given.of]))
            else:
                arguments.append(ctypes.c_uint64(int(by_place[n])))
        return buffers, arguments

    def _map(self, given: Map, pointer: Any) -> Any:
        """The 128 bytes of a CUtensorMap, of arguments as CuTe computes them."""
        cuda, rank = self._cuda, given.rank
        head = (
            cuda.CUtensorMapDataType(given.data_type),
            rank,
            int(pointer),
            [cuda.cuuint64_t(extent) for extent in given.dims[:rank]],
            [cuda.cuuint64_t(stride) for stride in given.strides[: rank - 1]],
        )
        tail = (
            [cuda.cuuint32_t(step) for step in given.steps[:rank]],
            cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cuda.CUtensorMapSwizzle(given.swizzle),
            cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
            cuda.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
        if given.corners is None:
            box = [cuda.cuuint32_t(extent) for extent in given.box[:rank]]
            encoded = self._ask("cuTensorMapEncodeTiled", *head, box, *tail)
        else:
            lower, upper = map(list, given.corners)
            encoded = self._ask("cuTensorMapEncodeIm2col", *head, lower, upper, *given.box[:2], *tail)
        return (ctypes.c_uint64 * 16)(*(int(word) for word in encoded.opaque))

    def _launch(self, module: object, launch: KernelRun, arguments: list[Any]) -> None:
        function = self._ask("cuModuleGetFunction", module, launch.entry.encode())
        if launch.shared > 48 << 10:
            attribute = self._cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._ask("cuFuncSetAttribute", function, attribute, launch.shared)
        pointers = (ctypes.c_void_p * max(1, len(arguments)))(*map(ctypes.addressof, arguments))
        self._ask("cuLaunchKernel", function, *launch.grid, launch.block, 1, 1, launch.shared, 0, ctypes.addressof(pointers), 0)

    def _read(self, pointer: object, size: int) -> bytes:
        buffer = (ctypes.c_char * size)()
        self._ask("cuMemcpyDtoH", ctypes.addressof(buffer), pointer, size)
        return buffer.raw

    def _free(self, buffers: list[tuple[Array, Array]]) -> None:
        for _, pointer in buffers:
            self._cuda.cuMemFree(pointer)  # after a failed launch this fails too, and the first error is the one to tell


def _driver_version() -> str:
    """The version of the NVIDIA driver, as Linux reports it; empty elsewhere."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            found = re.search(r"\d+\.\d+(?:\.\d+)?", file.read())
    except OSError:
        return ""
    return found[0] if found else ""


_COMPILER = (
    "pip install 'cute-viz[gpu,cute]' brings NVRTC and the headers; or name them: CUTE_VIZ_CUTLASS=.../include, CUDA_HOME=..."
)
_STANDARD = "--std=c++17"


def compile_(source: str, architecture: int = 80) -> tuple[str, str]:
    """(PTX, log): the PTX is empty when the text does not compile, and the log says why.

    architecture: 90 for compute_90. Raises: CannotCheck without a compiler or headers.
    """
    headers = cute_headers()
    if headers is None:
        raise CannotCheck("CuTe's headers were not found", hint=_COMPILER)
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
            raise CannotCheck(f"{call} failed with {status}", hint=_COMPILER)
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
        raise CannotCheck("there is no CUDA compiler: neither NVRTC nor nvcc", hint=_COMPILER)
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
