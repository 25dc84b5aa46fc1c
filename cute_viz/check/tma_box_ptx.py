"""The kernel of a TMA copy: boxes into the shared memory of a cluster, or out of it (PTX ISA, "cp.async.bulk.tensor")."""

from __future__ import annotations

from cute_viz.check.job import Kernel

MOST = 5  # dimensions of a tensor map
OFFSETS = 3  # of a filter at most, behind the dimensions


def kernel(entry: str, rank: int, ctas: int, store: bool, offsets: int = 0) -> Kernel:
    """The kernel (map, coords, in, out, bytes, count, step, own, mask), of one warp a CTA and one cluster a grid.

    coords: 5 integers for each instruction and CTA. bytes: of the tile. count: instructions a CTA. step: bytes of shared memory
    from one instruction to the next, own: those of one CTA. mask: who receives. A load copies shared memory to out, CTA after
    CTA; a store fills it from `in` before. offsets: of im2col mode, how many follow the 5 integers, which are 8 then.

    >>> ".reqnctapercluster 2, 1, 1" in kernel("k", 2, 2, False).body, ".multicast::cluster" in kernel("k", 2, 1, False).body
    (True, False)
    """
    coords = ", ".join(f"%c{n}" for n in range(rank))
    load = "\n".join(f"ld.global.b32 %c{n}, [%q+{4 * n}];" for n in range(rank))
    load += "".join(f"\nld.global.b32 %x, [%q+{4 * (MOST + n)}]; cvt.u16.u32 %o{n}, %x;" for n in range(offsets))
    mode, moved = ("im2col", f", {{{', '.join(f'%o{n}' for n in range(offsets))}}}") if offsets else ("tile", "")
    record = 4 * (MOST + (OFFSETS if offsets else 0))
    if store:
        issue = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%map, {{{coords}}}], [%x];"
        finish = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        begin, end, back = "", "", ""
        filled = """ld.param.u64 %at, [in];
FILL: setp.ge.u32 %p, %k, %n; @%p bra FULL; cvt.u64.u32 %q, %k; add.u64 %q, %q, %at; add.u32 %x, %k, %s;
ld.global.v2.b64 {%w0,%w1}, [%q]; st.shared.v2.b64 [%x], {%w0,%w1}; add.u32 %k, %k, 512; bra FILL;
FULL: fence.proxy.async.shared::cta; bar.sync 0;"""
    else:
        many = ".multicast::cluster" if ctas > 1 else ""
        issue = (
            f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes{many} "
            f"[%x], [%map, {{{coords}}}], [%m]{moved}{', %h' if ctas > 1 else ''};"
        )
        together = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if ctas > 1 else "bar.sync 0;"
        filled = f"""mov.b64 %w0, 0xCDCDCDCDCDCDCDCD;
FILL: setp.ge.u32 %p, %k, %n; @%p bra FULL; add.u32 %x, %k, %s;
st.shared.v2.b64 [%x], {{%w0,%w0}}; add.u32 %k, %k, 512; bra FILL;
FULL: setp.ne.u32 %p, %t, 0; @%p bra READY;
mbarrier.init.shared::cta.b64 [%m], 1; fence.mbarrier_init.release.cluster;
READY: fence.proxy.async.shared::cta;
{together}"""
        begin = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %n;"
        finish = ""
        end = """mov.u32 %x, 0;
POLL: mbarrier.try_wait.parity.shared::cta.b64 %p, [%m], 0; @%p bra DONE;
add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 1000000; @%p bra POLL;
DONE: bar.sync 0;"""
        back = f"""mul.lo.u32 %k, %t, 16; mul.wide.u32 %by, %r, %n; ld.param.u64 %at, [out]; add.u64 %at, %at, %by;
BACK: setp.ge.u32 %p, %k, %n; @%p bra END; cvt.u64.u32 %q, %k; add.u64 %q, %q, %at; add.u32 %x, %k, %s;
ld.shared.v2.b64 {{%w0,%w1}}, [%x]; st.global.v2.b64 [%q], {{%w0,%w1}}; add.u32 %k, %k, 512; bra BACK;
END: {together}"""
    cluster = f"\n.reqnctapercluster {ctas}, 1, 1" if ctas > 1 else ""
    return Kernel(
        entry,
        f""".extern .shared .align 1024 .b8 {entry}_smem[];
.visible .entry {entry}(.param .align 64 .b8 map[128], .param .u64 coords, .param .u64 in, .param .u64 out, .param .u32 bytes,
 .param .u32 count, .param .u32 step, .param .u32 own, .param .u32 mask){cluster}
{{
.shared .align 8 .b64 barrier;
.reg .pred %p;
.reg .b16 %h, %o<{OFFSETS}>;
.reg .b32 %t, %s, %n, %k, %x, %m, %r, %i, %g, %y, %c<5>;
.reg .b64 %map, %at, %by, %q, %w0, %w1;
mov.u32 %t, %tid.x; mov.u32 %r, %ctaid.x; mov.u32 %g, %nctaid.x; mov.u32 %s, {entry}_smem; mov.u32 %m, barrier;
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00; // swizzles act on address bits
mov.b64 %map, map; cvta.param.u64 %map, %map;
ld.param.u32 %n, [bytes]; mul.lo.u32 %k, %t, 16; ld.param.u32 %x, [mask]; cvt.u16.u32 %h, %x;
{filled}
setp.ne.u32 %p, %t, 0; @%p bra WAIT;
{begin}
mov.u32 %i, 0;
AGAIN: ld.param.u32 %y, [count]; setp.ge.u32 %p, %i, %y; @%p bra ISSUED;
mad.lo.u32 %y, %i, %g, %r; mul.wide.u32 %by, %y, {record}; ld.param.u64 %q, [coords]; add.u64 %q, %q, %by;
{load}
ld.param.u32 %y, [step]; mad.lo.u32 %x, %i, %y, %s; ld.param.u32 %y, [own]; mad.lo.u32 %x, %r, %y, %x;
{issue}
add.u32 %i, %i, 1; bra AGAIN;
ISSUED: {finish}
WAIT: {end}
{back}
ret;
}}""",
        (8, 0),
        90,
    )
