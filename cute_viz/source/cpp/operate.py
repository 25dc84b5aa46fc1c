"""An operation of the registry on the values of the reader: what it takes of tensors, and the result as the reader has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.composed import AnyLayout, ComposedLayout
from cute_viz.algebra.dialect import as_in_dsl
from cute_viz.algebra.doubts import doubt
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mixed import VIEWS, is_mixed
from cute_viz.algebra.operands import check_named
from cute_viz.algebra.ops import OPS, TENSORS
from cute_viz.algebra.origin import counting
from cute_viz.algebra.static import each_integer, unknowns
from cute_viz.algebra.tensor import Tensor, make_tensor
from cute_viz.errors import AlgebraError, CuteVizError, NotationError
from cute_viz.notation.values import ungroup
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.slices import is_layout, joined, layout_of, shaped, viewed
from cute_viz.source.cpp.tensors import check_of_layouts, check_of_tensors
from cute_viz.source.cpp.values import Enumerator, External, Value, finished, later, static, taken
from cute_viz.values.integer import Runtime, Static

DESCRIPTORS = ("make_gmma_desc", "make_umma_desc")  # keep the layout that they describe, which other rooms show
# Operations that make tensors of coordinates.
COUNTING = frozenset(("make_identity_tensor", "get_tma_tensor"))


def operated(meaning: Meaning, name: str, operands: list[Value], template: tuple[Value, ...] = ()) -> Value:
    """The result of an operation of the registry."""
    for operand in operands:
        if isinstance(operand, External):
            raise operand.error or AlgebraError(f"{operand.name!r} is not defined in this file")
    operands = [as_word(shaped(name, operand)) for operand in operands]
    template = tuple(str(x).lower() if isinstance(x, bool) else as_word(x) for x in template)
    short = ops.ALIASES.get(name, name)
    if short not in ops.OPS and meaning.context.own_lines:
        ops.find(name)  # Raises: what there is instead
    if short not in ops.OPS:
        raise NotationError(f"{name!r} is not defined in this file")
    check_named(list(operands), ops.OPS[short].kinds, meaning.context.free)
    check_of_layouts(name, ops.OPS[short].kinds, operands)
    if name == "group_modes":
        check_of_tensors(meaning, name, operands[0])
    if short == "rank" and not template and len(operands) == 1 and isinstance(operands[0], tuple):  # of layouts, too
        return len(operands[0])
    if short.startswith("deduce_"):  # a template argument of CUTLASS's, which has no such function
        operands = [static(x) for x in operands]
    if short == "make_layout" and meaning.context.types and operands and isinstance(operands[0], tuple):
        operands[0] = later(operands[0])
    of_map = short.startswith("make_") and "_tma_" in short  # a tensor map follows from what is static
    plain: list[Any] = [layout_of(operand) for operand in operands]
    values = plain
    try:
        with as_in_dsl(False):
            if of_map and len(plain) > 2:
                from cute_viz.algebra.tma import check_static

                check_static(short, plain[2])
            if of_map or of_tensors(short):
                values = [_behind(t, x) if isinstance(t, Tensor) else x for x, t in zip(plain, operands, strict=True)]
                values = list(finished(tuple(values))) if of_map or short in DESCRIPTORS else values
            out = ops.OPS[short].call(values, template)
    except CuteVizError as error:
        needs = (*(name for x in unknowns(tuple(plain)) for name in x.error().needs), *error.needs)
        raise error.but(needs=tuple(dict.fromkeys(needs))) if error.needs else error from None
    # C++'s true and false are CuTe's true_type and false_type
    found: Any = int(out) if isinstance(out, bool) else ungroup(taken(out) if is_mixed(plain) else out)
    if meaning.context.warnings is not None and len(plain) == 2:
        meaning.context.warnings += filter(None, [doubt(short, list(finished(tuple(plain))), finished(found))])
    if name in COUNTING:
        return _numbers(counting(found))
    if isinstance(found, Tensor):
        return joined(found)
    of = next((operand for operand in operands if is_layout(layout_of(operand))), None)
    return viewed(of, found, []) if short in VIEWS and isinstance(of, Tensor) else found


def of_tensors(name: str) -> bool:
    """Whether an operation looks at what the pointer of a tensor points to; of others the layout counts.

    >>> of_tensors("make_umma_desc"), of_tensors("size")
    (True, False)
    """
    return name in ("max_common_vector", "max_common_layout") or (name in OPS and bool(TENSORS.intersection(OPS[name].kinds)))


def _behind(tensor: Tensor, layout: Value) -> Tensor:
    """A layout behind the pointer of a tensor; one of a host's is in global memory where nobody says it."""
    where = tensor.pointer if tensor.pointer.space else replace(tensor.pointer, space="gmem")
    return replace(tensor, pointer=where, layout=layout) if isinstance(layout, Layout) else make_tensor(where, layout)


def _numbers(found: AnyLayout) -> Value:
    """A tensor of coordinates with integers as they are here; beside strides with a mark one without follows a run-time step."""

    def unmarked(x: Any) -> Any:
        return each_integer(lambda n: int(n) if isinstance(n, Static) else n, x)

    if not isinstance(found, ComposedLayout) or not isinstance(found.inner, Layout):
        return unmarked(found)  # type: ignore[no-any-return]
    if not any(type(getattr(step, "value", step)) is Static for step in leaves(found.inner.stride)):
        return unmarked(found)  # type: ignore[no-any-return]
    steps = each_integer(lambda n: int(n) if isinstance(n, Static) else Runtime(n), found.inner.stride)
    return ComposedLayout(unmarked(found.outer), unmarked(found.offset), Layout(unmarked(found.inner.shape), steps))


def as_word(value: Value) -> Value:
    """An enumerator of CuTe's, such as GMMA::Major::K or UMMA::Saturate::False, as operations take it.

    >>> from cute_viz.source.cpp.values import Enumerator
    >>> as_word(Enumerator("cute::GMMA::Major", "MN", 1)), as_word(7)
    ('GMMA::Major::MN', 7)
    """
    if isinstance(value, External) and value.args is None and value.name.count("::") >= 2:
        return "::".join(value.name.split("::")[-3:])
    return value.word if isinstance(value, Enumerator) else value
