"""Facts of descriptors and of tensor memory, each with its unit: bytes, elements, 16-byte units, lanes and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.descriptor import FIELDS, MMAS, UNIT, DescriptorTensor, DescriptorWord, SmemDescriptor
from cute_viz.algebra.instruction import InstrDescriptor
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import flat_modes
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.static import Plain
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tensor_map import ATOM_64B, DATA_TYPE_NAMES, SWIZZLE_NAMES, Im2col, TensorMap
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tma_parts import CLUSTER, ctas_of, receivers
from cute_viz.algebra.tmem import LANES, TensorMemory, address, find_tmem_tensor_col_offset, metadata_words, places, rows_of_scales
from cute_viz.algebra.umma import MmaOperands
from cute_viz.values.integer import MulticastMask

COPIES = 4  # of a scale factor in tensor memory
ALLOCATED = "columns to allocate"
FEWEST = 32  # columns of a tcgen05.alloc, which takes a power of 2 from there to 512 (PTX ISA, "Tensor memory allocation")


def hardware_facts(obj: object) -> dict[str, Any] | None:
    """The facts of a descriptor, a fragment of descriptors, an instruction descriptor, a TMA copy, a multicast mask, a tensor in
    tensor memory, or of an MMA with its operands; None for anything else."""
    facts = _FACTS.get(type(obj))
    return None if facts is None else facts(obj)


def _fragment(x: DescriptorTensor) -> dict[str, object]:
    first = _descriptor(x.first)  # of a part that the readers mark differently: without marks
    first |= {name: str(first[name]) for name in ("operand", "smem_layout")}
    return {"layout": Plain.of(x.layout), "strides": "16-byte units, added to start_address", **first}


def _tensor_memory(x: TensorMemory) -> dict[str, Any]:
    parts = {name: _tmem(tensor) | {"first column": tensor.pointer.address or 0} for name, tensor in x.parts}
    return {name: {key: value for key, value in part.items() if key != ALLOCATED} for name, part in parts.items()}


def _operands(x: MmaOperands) -> dict[str, Any]:
    """The MMA, what each CTA of a pair holds, and the descriptors."""
    atom = x.mma.atom
    out: dict[str, Any] = {"op": atom.name, "Shape_MNK": Plain.of(atom.shape_mnk), "ThrID": Plain.of(atom.thr_id)}
    for operand, names in (("A", "MK"), ("B", "NK"), ("C", "MN")) if size(atom.thr_id) == 2 else ():
        high, _ = atom.held(operand)
        for cta in range(2):
            held = offsets(atom.layout(operand))[cta::2]
            parts = {i % high for i in held}, {i // high for i in held}
            out[f"{operand} of CTA {cta}"] = ", ".join(f"{name} {spans(part)}" for name, part in zip(names, parts, strict=True))
    return out | {operand: hardware_facts(made) for operand, made in (("A", x.a), ("B", x.b)) if made is not None}


def spans(numbers: set[int]) -> str:
    """Numbers as runs of neighbours: `0..15, 32..47`."""
    starts = sorted(n for n in numbers if n - 1 not in numbers)
    ends = sorted(n for n in numbers if n + 1 not in numbers)
    return ", ".join(f"{a}..{b}" if a < b else str(a) for a, b in zip(starts, ends, strict=True))


def _fields(x: DescriptorWord) -> dict[str, object]:
    """The fields of a descriptor whose operand is unknown."""
    kept = sum(((1 << field.width) - 1) << field.bit for field in FIELDS[x.kind])
    out: dict[str, Any] = {
        "desc": str(x),
        "kind": f"{x.kind} descriptor, read by {MMAS[x.kind]}",
        **x.values,
        "layout_type_name": x.mode,
        "start address": f"{x.values['start_address'] * UNIT} bytes",
        "leading offset": f"{x.values['leading_byte_offset'] * UNIT} bytes",
        "stride offset": f"{x.values['stride_byte_offset'] * UNIT} bytes",
    }
    if x.desc & ~kept:
        out["bits outside of the fields"] = f"{x.desc & ~kept:#x}"
    return out


def _descriptor(x: SmemDescriptor) -> dict[str, object]:
    known = x.tensor.pointer.address is not None
    out: dict[str, Any] = {
        "desc": str(x),
        "kind": f"{x.kind} descriptor, {x.major}-major",
        **x.values,
        "layout_type_name": x.mode,
        "units": "start_address and both offsets count 16 bytes; layouts count elements",
        "start address": f"{x.start_address * UNIT} bytes" if known else "not known; counted from 0",
        "leading offset": f"{x.leading_byte_offset * UNIT} bytes",
        "stride offset": f"{x.stride_byte_offset * UNIT} bytes",
        "element": f"{x.tensor.pointer.element}, {x.bits} bits",
        "operand": Plain.of(x.tensor.layout),
        "smem_layout": Plain.of(x.tensor.whole),
    }
    if x.kind == "GMMA" or x.major == "MN":
        out["leading offset used"] = _leading_used(x)
    if x.refused:
        out[f"not supported by {MMAS[x.kind]}"] = x.refused
    kept = {field.name: field.width for field in FIELDS[x.kind]}
    lost = [name for name in ("start_address", "leading_byte_offset", "stride_byte_offset") if getattr(x, name) >> kept[name]]
    if lost:
        out["does not fit its 14 bits"] = ", ".join(f"{name} = {getattr(x, name)}" for name in lost)
    return out


def _leading_used(x: SmemDescriptor) -> str:
    """Whether the hardware reads the leading offset, in words."""
    if x.major == "K":
        return "yes" if x.mode in ("INTERLEAVE", "SWIZZLE_NONE") else "no: a row of the swizzle atom holds both 16-byte columns"
    return "yes" if x.leading_byte_offset else "no: the operand is one atom wide"


def _instruction(x: InstrDescriptor) -> dict[str, object]:
    runtime = {"runtime_idescE": f"0x{x.desc << 32:016x}"}
    if x.refused:
        runtime["not supported by tcgen05.mma"] = "; ".join(x.refused)
    return {"desc": str(x), "kind": x.kind, **dict(x.values), **{f"{name} in words": word for name, word in x.what}, **runtime}


def _tmem(x: Tensor) -> dict[str, object]:
    last, per, metadata = next(places(x, [cosize(x.layout) - 1 + x.offset])), x.pointer.per_word, metadata_words(x)
    first = x.pointer.address or 0
    last = last._replace(lane=last.lane + (first >> 16), column=last.column + (first & 0xFFFF))
    what = "elements of A" if metadata else f"elements of {x.bits} bits"
    return {
        "layout": Plain.of(x.layout),
        "kind": "metadata of a sparse MMA in tensor memory" if metadata else "tensor in tensor memory",
        "unit": f"{what}: a lane is {per << 16} of them, a column {per}",
        "shape": show(x.layout.shape),
        "size": size(x.layout),
        "element": metadata or f"{x.pointer.element}, {x.bits} bits",
        "columns": (columns := find_tmem_tensor_col_offset(x)),
        ALLOCATED: 1 << (max(columns, FEWEST) - 1).bit_length(),
        "lanes": spans(_lanes(x)),
        **_copies(x),
        "last address": f"0x{address(last):08x}: lane {last.lane}, column {last.column}, bit {last.bit}",
        "on hardware": "SM100: not run on hardware.",
    }


def _lanes(x: Tensor) -> set[int]:
    """The lanes that a tensor lies in."""
    lane, start = x.pointer.per_word << 16, int(x.offset)
    out = {start // lane}
    for extent, step in flat_modes(x.layout):
        if isinstance(step, int) and step >= lane:
            out = {one + step // lane * n for one in out for n in range(min(extent, LANES))}
    return out


def _copies(x: Tensor) -> dict[str, Any]:
    """How often scale factors stand in tensor memory, where the last mode of their rows is that."""
    if not rows_of_scales(x):
        return {}
    return {"copies": f"{COPIES} of each scale factor, from lane 0, 32, 64 and 96 on: one for the lanes of each warp"}


def _tma(x: TmaCopy) -> dict[str, Any]:
    typed = domain(x.smem)  # static in C++, and so is what follows from it
    out: dict[str, Any] = {
        "op": x.op.name,
        "kind": f"TMA: the arguments of cuTensorMapEncode{'Im2col' if x.im2col else 'Tiled'}, dimension 0 first",
        "dataType": x.map.data_type,
        "dataType in words": DATA_TYPE_NAMES[x.map.data_type],
        "tensorRank": x.map.rank,
        "globalAddress": x.map.address,
        "globalDim": list(x.map.global_dim),
        "globalStrides": list(x.map.global_strides),
        **({} if x.im2col else {"boxDim": list(x.map.box_dim)}),
        "elementStrides": list(x.map.element_strides),
        "interleave": x.map.interleave,
        "swizzle": x.map.swizzle,
        "swizzle in words": SWIZZLE_NAMES[x.map.swizzle],
        "units": "globalDim and boxDim in elements, globalStrides of the dimensions 1 to 4 in bytes",
        "element": f"{x.map.type}, {x.map.bits} bits",
        "CTAs of a multicast": x.ctas,
        "bytes an instruction": x.bits // x.ctas // 8,
        "bytes a tile, in each CTA": size(x.cta_v_map) * x.tensor.bits // 8,
        "instructions a tile, all CTAs": max(1, size(x.cta_v_map) * x.tensor.bits // x.bits) * x.ctas,
        "NumValSrc": x.bits // x.tensor.bits,
        "cta_v_map": Plain.of(x.cta_v_map, typed),
        "tma_gbasis": Plain.of(x.gbasis, typed),
        **({} if x.im2col else {"g_stride_basis": Plain.of(x.g_stride)}),
        "gmem_layout": Plain.of(x.tensor.layout),
        "smem_layout": Plain.of(x.smem),
    }
    if x.im2col is not None:
        out |= _im2col(x.im2col, x.map)
    if refused := x.map.refused:
        out["cuTensorMapEncode fails"] = "; ".join(refused)
    if SWIZZLE_NAMES[x.map.swizzle] == "128B_ATOM_64B":
        out["on hardware"] = ATOM_64B
    if x.gathers:
        out["rows"] = "an instruction takes the indices of 4 rows, and moves a box of one row for each"
    if x.tiled is not None:
        out |= {"Tiler_MN": Plain.of(x.tiled.tiler_mn, typed), "TiledLayout_TV": Plain.of(x.tiled.layout_tv, typed)}
    return out


def _mask(x: MulticastMask) -> dict[str, object]:
    ctas = ctas_of(x)
    return {
        "mask": hex(x),
        "kind": "multicast mask: bit n is CTA n of the cluster",
        "bits": f"0b{int(x):0{min(max(ctas) + 1, CLUSTER)}b}",
        "decimal": int(x),
        "receivers": [n for n, _ in receivers(x)],
        "receivers in words": receivers_words(x),
        **({} if x.coord is None else {"slice of the cluster": show(x.coord), "along": _along(x.modes)}),
        "cluster": Plain.of(x.cluster),
        "CTAs of the cluster": len(ctas),
    }


def _along(along: tuple[int, ...]) -> str:
    return f"mode{'' if len(along) == 1 else 's'} {', '.join(map(str, along))}" if along else "no mode: a single CTA"


def receivers_words(x: MulticastMask) -> str:
    """The CTAs that receive, each with its coordinate."""
    parts = (f"CTA {n} at {show(crd)}" if crd is not None else f"CTA {n}, which the cluster lacks" for n, crd in receivers(x))
    return ", ".join(parts) or "none"


def _im2col(x: Im2col, tensor_map: TensorMap) -> dict[str, object]:
    return {
        "pixelBoxLowerCorner": list(x.lower),
        "pixelBoxUpperCorner": list(x.upper),
        "channelsPerPixel": tensor_map.box_dim[0],
        "pixelsPerColumn": tensor_map.box_dim[1],
        "filter": show(x.filters),
        "units": "dimensions are c, w, h, d, n; corners in pixels from the first and from the last one, strides in bytes",
        "tma_tensor": Plain.of(x.coordinates),
    }


_FACTS: dict[type, Callable[[Any], dict[str, Any] | None]] = {
    SmemDescriptor: _descriptor,
    DescriptorWord: _fields,
    DescriptorTensor: _fragment,
    InstrDescriptor: _instruction,
    TmaCopy: _tma,
    MulticastMask: _mask,
    TensorMemory: _tensor_memory,
    Tensor: lambda x: _tmem(x) if x.pointer.space == "tmem" else None,
    MmaOperands: _operands,
}
