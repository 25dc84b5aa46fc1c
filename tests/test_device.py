"""The GPU driver's calls without a GPU: a driver of a few dictionaries, whose kernels the interpreter of layouts runs."""

from __future__ import annotations

import ctypes
import sys
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cute_viz.check import device, plan, report, runner
from cute_viz.check.device import Device, DeviceError
from cute_viz.check.job import In, KernelRun, Map, Out, Scalar
from cute_viz.errors import CannotCheck
from cute_viz.source.text import parse
from cute_viz.spec import resolve
from tests.test_check import interpret


class Named:
    """Every attribute is its own name: the constants of the driver."""

    def __getattr__(self, name: str) -> str:
        return name


class Status(IntEnum):
    FINE = 0
    NOT_FOUND = 1


class Driver:
    """The calls that `Device` makes. memory: of each pointer its bytes. tried: the names of the calls, in order."""

    CUjit_option = CUjitInputType = CUfunction_attribute = Named()
    CUtensorMapInterleave = CUtensorMapL2promotion = CUtensorMapFloatOOBfill = Named()
    CUtensorMapDataType = CUtensorMapSwizzle = int
    CUdevice_attribute = Named()
    cuuint32_t = cuuint64_t = int

    def __init__(self, refused: str = "") -> None:
        self.memory: dict[int, bytearray] = {}
        self.modules: list[str] = []
        self.tried: list[str] = []
        self.refused = refused
        self.attributes: dict[str, int] = {}
        self.described: tuple[Any, ...] = ()
        self.clock = 0.0

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("cu") and not name.startswith(("cuuint", "cuGetError")):
            self.tried.append(name)
            if name == self.refused:
                return lambda *given: (Status.NOT_FOUND, None)
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:  # calls that only have to go well
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *given: (Status.FINE, 1)

    def cuGetErrorName(self, status: Status) -> tuple[Status, bytes]:
        return Status.FINE, status.name.encode()

    def cuGetErrorString(self, status: Status) -> tuple[Status, bytes]:
        return Status.FINE, b"it is not there"

    def cuDeviceGetName(self, size: int, which: int) -> tuple[Status, bytes]:
        return Status.FINE, b"a GPU\0\0"

    def cuDriverGetVersion(self) -> tuple[Status, int]:
        return Status.FINE, 13020

    def cuDeviceGetAttribute(self, attribute: str, which: int) -> tuple[Status, int]:
        return Status.FINE, 9 if attribute.endswith("MAJOR") else 0

    def cuLinkCreate(self, count: int, keys: list[str], values: list[Any]) -> tuple[Status, dict[str, Any]]:
        return Status.FINE, {"log": values[0]}

    def cuLinkAddData(self, link: dict[str, Any], kind: str, text: bytes, size: int, *more: Any) -> tuple[Status, ...]:
        assert (size, text[-1]) == (len(text), 0)
        link["text"] = text[:-1].decode()
        if "wrong" in link["text"]:
            link["log"][:20] = b"line 1; wrong\nline 2"
            return Status.NOT_FOUND, None
        return (Status.FINE,)

    def cuLinkComplete(self, link: dict[str, Any]) -> tuple[Status, str, int]:
        return Status.FINE, link["text"], len(link["text"])

    def cuModuleLoadData(self, image: str) -> tuple[Status, str]:
        self.modules.append(image)
        return Status.FINE, image

    def cuModuleUnload(self, module: str) -> tuple[Status]:
        self.modules.remove(module)
        return (Status.FINE,)

    def cuModuleGetFunction(self, module: str, name: bytes) -> tuple[Status, tuple[str, str]]:
        return Status.FINE, (module, name.decode())

    def cuFuncSetAttribute(self, function: Any, attribute: str, value: int) -> tuple[Status]:
        self.attributes[attribute] = value
        return (Status.FINE,)

    def cuMemAlloc(self, size: int) -> tuple[Status, int]:
        pointer = 4096 * (1 + len(self.tried))
        self.memory[pointer] = bytearray(size)
        return Status.FINE, pointer

    def cuMemFree(self, pointer: int) -> tuple[Status]:
        del self.memory[pointer]
        return (Status.FINE,)

    def cuMemsetD8(self, pointer: int, value: int, size: int) -> tuple[Status]:
        self.memory[pointer][:size] = bytes([value]) * size
        return (Status.FINE,)

    def cuMemcpyHtoD(self, pointer: int, data: bytes, size: int) -> tuple[Status]:
        self.memory[pointer][:size] = data
        return (Status.FINE,)

    def cuMemcpyDtoH(self, address: int, pointer: int, size: int) -> tuple[Status]:
        ctypes.memmove(address, bytes(self.memory[pointer][:size]), size)
        return (Status.FINE,)

    def cuTensorMapEncodeTiled(self, *given: Any) -> tuple[Status, Any]:
        self.described = given
        return Status.FINE, SimpleNamespace(opaque=range(16))

    def cuEventElapsedTime(self, start: int, stop: int) -> tuple[Status, float]:
        self.clock += 1
        return Status.FINE, 1000 / self.clock

    def cuLaunchKernel(self, function: Any, x: int, y: int, z: int, block: int, *more: Any) -> tuple[Status]:
        """The kernel of a layout: (table, seen, count, n); of one with a descriptor the first argument is kept."""
        _, _, shared, _, pointers, _ = more
        module, entry = function
        self.launched = (entry, (x, y, z), block, shared)
        if "layout" not in entry:
            if self.described:
                self.first = bytes((ctypes.c_char * 128).from_address(ctypes.c_uint64.from_address(pointers).value))
            return (Status.FINE,)
        places = (ctypes.c_void_p * 4).from_address(pointers)
        table, seen, count = (ctypes.c_uint64.from_address(place).value for place in places[:3])
        n = ctypes.c_uint32.from_address(places[3]).value
        outs = Out(len(self.memory[seen]), self.memory[seen][0]), Out(4, 0)
        found = interpret(module, KernelRun(entry, (x, y, z), block, (In(bytes(self.memory[table])), *outs, Scalar(n))))
        for pointer, data in zip((seen, count), found, strict=True):
            self.memory[pointer][: len(data)] = data
        return (Status.FINE,)


def use(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """Make `cuda.bindings.driver` the given one."""
    bindings = ModuleType("cuda.bindings")
    bindings.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    return driver


def test_a_layout_goes_to_the_driver_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = use(Driver(), monkeypatch)
    found = runner.check([runner.Checkable("x", parse("Sw<2,0,3> o 0 o (8,8):(8,1)"))], version="1")
    assert found.machine["device"] == "a GPU"
    assert (found.machine["capability"], found.machine["cuda"]) == ("9.0", "13.2")
    (verdict,) = found.verdicts
    assert (verdict.verdict, verdict.cells, verdict.agree) == ("agree", 64, 64), report.lines(verdict)
    assert driver.memory == {}
    assert driver.modules == []


def test_what_the_compiler_refuses_has_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = use(Driver(), monkeypatch)
    fine, refused = Device().load_all(["right", "wrong"])
    assert fine == "right"
    assert isinstance(refused, DeviceError)
    assert refused.message == "cuLinkAddData: NOT_FOUND it is not there: line 1; wrong"
    assert driver.tried.count("cuLinkCreate") == driver.tried.count("cuLinkDestroy") == 2


def test_a_failed_launch_frees_its_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = use(Driver(refused="cuCtxSynchronize"), monkeypatch)
    with pytest.raises(DeviceError, match="cuCtxSynchronize: NOT_FOUND"):
        Device().run("module", [KernelRun("k", (1, 1, 1), 32, (In(b"1234"), Out(8)))])
    assert driver.memory == {}


def test_a_descriptor_is_passed_by_value_and_shared_memory_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = use(Driver(), monkeypatch)
    tensor = Map(1, (64, 8), (128,), (64, 8), 3, 1, 2)
    (out,) = Device().run("module", [KernelRun("k", (1, 2, 3), 32, (tensor, In(bytes(1024)), Out(8), Scalar(-1)), 96 << 10)])
    assert out == [b"\xcd" * 8]  # nothing wrote: the poison comes back
    assert np.frombuffer(driver.first, np.uint64).tolist() == list(range(16))
    assert driver.launched == ("k", (1, 2, 3), 32, 96 << 10)
    assert driver.attributes == {"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 96 << 10}
    kind, rank, _, dimensions, pitches, box, steps, _, swizzle, _, _ = driver.described
    assert (kind, rank, dimensions, pitches, box, steps, swizzle) == (1, 2, [64, 8], [128], [64, 8], [1, 1], 3)


def test_the_shortest_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = use(Driver(), monkeypatch)
    gpu = Device()
    assert gpu.seconds("module", KernelRun("k", (1, 1, 1), 32, (Out(8),)), repeats=4) == 0.25
    driver.clock = 0
    assert gpu.copy_bandwidth(1000, repeats=2) == 4000
    assert driver.memory == {}


@pytest.mark.parametrize("refused", ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"])
def test_without_a_device_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    use(Driver(refused), monkeypatch)
    with pytest.raises(CannotCheck, match=f"no usable GPU: {refused}: NOT_FOUND it is not there") as caught:
        Device()
    assert caught.value.hint == device.NEEDS


def test_without_the_package_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(CannotCheck, match="no GPU driver interface"):
        Device()


def test_an_instruction_that_the_driver_does_not_take_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    use(Driver(refused="cuLinkAddData"), monkeypatch)
    (verdict,) = runner.run(Device(), plan.plan(resolve("SM75_U32x4_LDSM_N"), "x"))
    assert verdict.verdict == "undecided"
    assert verdict.reason.startswith("the driver does not take the instruction: cuLinkAddData")
