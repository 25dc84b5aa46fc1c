"""Every kind of board, of several objects, in every format at every place: `python -m tests.kinds FOLDER [WORD...]` draws them,
measures them and joins them on contact sheets.

Each line that it prints is something to look at: a status other than 0, a size beyond the place, a letter below the least, a
picture in which a number stands twice as wide as its cell. The sheets (`FOLDER/sheet_KIND_TARGET.png`) are for the eye.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from PIL import Image

from tests.commands import run

ATOM, TILED = "SM80_16x8x16_F32F16F16F32_TN", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"
UMMA = "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>"
SWIZZLED = "Sw<3,3,3> o 0 o (8,64):(64,1)"
KERNEL = "docs/kernel.cu"
KINDS: dict[str, list[list[str]]] = {
    "zoom": [
        ["ampere_gemm", "--view", "zoom"],
        ["hopper_gemm", "--view", "zoom"],
        ["blackwell_gemm_2sm", "--view", "zoom"],
        [f"{KERNEL}::gemm_tn::mma", "--view", "zoom", "--tile", "128x128"],
        ["SM90_64x128x16_F32F16F16_SS", "--view", "zoom", "--tile", "128x256", "--cluster", "2x1"],
        [UMMA, "--view", "zoom"],
        ["MFMA_F32_16x16x16_F16", "--view", "zoom", "--tile", "64x64"],
    ],
    "access": [
        [SWIZZLED, "--view", "access", "--by", "ldmatrix.x1"],
        [f"{KERNEL}::gemm_tn::sB", "--view", "access", "--by", "ldmatrix.x4"],
        ["(8,64):(72,1)", "--view", "access", "--by", "st.64", "--type", "f16"],
        ["Sw<3,4,3> o 0 o (64,64):(64,1)", "--view", "access", "--by", "wgmma", "--type", "f16"],
        ["Sw<2,4,3> o 0 o (64,32):(32,1)", "--view", "access", "--by", "tma", "--type", "f16"],
        ["(32,32):(33,1)", "--view", "access", "--by", "ld.32", "--type", "f32"],
    ],
    "path": [
        ["(8,8):(8,1)", "--view", "path"],
        ["((2,2,2),(2,2,2)):((2,8,32),(1,4,16))", "--view", "path"],
        ["(4,4,3):(4,1,16)", "--view", "path"],
        ["(8,8):(0,1)", "--view", "path"],
        ["(4,8):(10,1)", "--view", "path"],
        ["(2,3,4,2):(1,2,6,24)", "--view", "path"],
        [f"{KERNEL}::gemm_tn::sB", "--view", "path"],
        ["(8,8):(8,1)", "(8,8):(1,8)", "Sw<3,0,3> o 0 o (8,8):(8,1)", "--view", "path"],
    ],
    "matrix": [
        [SWIZZLED, "--view", "matrix", "--type", "f16"],
        ["(8,8):(8,1)", "--view", "matrix"],
        [f"{KERNEL}::gemm_tn::sB", "--view", "matrix"],
        ["Sw<3,4,3>", "--view", "matrix"],
        ["((2,4),(4,2)):((4,8),(1,32))", "--view", "matrix"],
        ["#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", "--shape", "8x64", "--view", "matrix"],
        ["gmma_k_sw128", "--view", "matrix"],
    ],
    "cube": [
        [ATOM, "--view", "cube", "--thread", "5"],
        [UMMA, "--view", "cube"],
        ["SM90_64x64x16_F32F16F16_RS", "--view", "cube", "--thread", "37"],
        ["MFMA_F32_16x16x16_F16", "--view", "cube"],
        ["v_smfmac_f32_16x16x32_f16", "--view", "cube"],
        [TILED, "--view", "cube"],
        [f"{KERNEL}::gemm_tn::mma", "--view", "cube", "--thread", "100"],
        ["SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K>", "--view", "cube"],
    ],
    "steps": [
        ["logical_divide((4,8):(8,1), (2,4))", "--view", "steps"],
        ["composition((4,8):(8,1), (2:2,4:2))", "--view", "steps"],
        ["complement((2,2):(1,6), 24)", "--view", "steps"],
        ["raked_product((2,2):(2,1), (2,3):(1,2))", "--view", "steps"],
        ["right_inverse((4,8):(8,1))", "--view", "steps"],
        ["zipped_divide(Sw<1,1,1> o 0 o (4,8):(8,1), (2,4))", "--view", "steps"],
        ["tiled_divide((8,6,4):(1,8,48), (4,3))", "--view", "steps"],
    ],
    "pipeline": [
        ["4", "--view", "pipeline"],
        ["(128,64,3)", "--view", "pipeline", "--schedule", "tiles=9,load=3"],
        ["talk_pipeline_ping_pong"],
        ["2", "--view", "pipeline", "--schedule", "tiles=12,load=2,compute=3"],
        ["(64,64,(2,2))", "--view", "pipeline", "--schedule", "tiles=6,consumers=2,work=4"],
    ],
    "notes": [
        ["(8,8):(8,1)", "--note", "(0,0)..(7,0): one bank group", "--note", "row 5: T5 reads here"],
        [ATOM, "--note", "T5: holds 8 of A"],
        [SWIZZLED, "--view", "access", "--by", "ldmatrix.x1", "--note", "(0,0)..(7,0): all begin in bank 0"],
        ["(4,8):(1,4)", "--note", "brace row 0..3: one column", "--note", "(0,0) -> (3,4): 16 further"],
        [f"{KERNEL}::gemm_tn::mma", "--note", "C (0,0): the first", "--operand", "C"],
    ],
    "exercise": [
        ["((2,2),4):((1,8),2)", "--blank", "offsets", "--key"],
        [ATOM, "--operand", "C", "--blank", "owners=8", "--key"],
        ["(8,8):(12,1)", "--view", "banks", "--type", "f32", "--blank", "banks=6", "--key"],
        ["(4,8):(8,1)", "--blank", "strides", "--key"],
        ["Sw<1,1,1> o 0 o (4,8):(8,1)", "--blank", "offsets=all"],
        ["SM75_U32x1_LDSM_N", "--operand", "D", "--blank", "threads=6"],
    ],
    "diff": [
        ["(8,64):(64,1)", SWIZZLED, "--diff"],
        ["(8,8):(8,1)", "(8,8):(1,8)", "--diff"],
        ["(8,8):(8,1)", "(8,8):(9,1)", "--diff"],
        [f"{KERNEL}::gemm_tn::sA", f"{KERNEL}::gemm_tn::sB", "--diff"],
        [ATOM, "SM80_16x8x16_F32BF16BF16F32_TN", "--operand", "C", "--diff"],
        ["(4,8):(8,1)", "(4,10):(10,1)", "--diff"],
    ],
}  # fmt: skip
FORMATS = ("svg", "png", "pdf", "tikz", "html", "json", "text")
TARGETS = ("readme", "column", "page", "slide")


def drawn(kind: str, n: int, words: list[str], folder: Path, formats: tuple[str, ...]) -> Iterator[str]:
    """What is wrong with an object's pictures, a line each."""
    import time

    from cute_viz.renderers.targets import TARGETS as PLACES
    from tests import readback

    for name in formats:
        for target in ("terminal",) if name == "text" else (None,) if name in ("json", "html") else TARGETS:
            suffix = {"tikz": "tex", "text": "txt"}.get(name, name)
            out = folder / f"{kind}_{n}_{target or 'screen'}.{suffix}"
            began = time.process_time()
            done = run("render", *words, *(("--for", target) if target else ()), "-T", name, "-o", str(out))
            took, what = time.process_time() - began, f"{kind} {n} {target} {name}: {' '.join(words)}"
            if done.returncode or took > 8:
                yield f"{what}: rc {done.returncode} {took:.1f} s {done.stderr.decode()[:300]}"
            if done.returncode or name != "svg" or target is None:
                continue
            shown, place = readback.svg(out.read_text()), PLACES[target]
            if shown.width > place.width + 1 or shown.height > place.height + 1:  # type: ignore[operator]
                yield f"{what}: {shown.width:.0f} x {shown.height:.0f}"
            if shown.texts and (least := min(size for _, _, _, size, _, _ in shown.texts)) < place.least - 1e-6:
                yield f"{what}: letters of {least:.1f}"


def one(job: tuple[str, int, list[str], Path, tuple[str, ...]]) -> list[str]:
    return list(drawn(*job))


def main(folder: str, *words: str) -> None:
    """All of them, or the kinds and formats that words name."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    kinds = [kind for kind in KINDS if kind in words] or list(KINDS)
    formats = tuple([name for name in FORMATS if name in words]) or FORMATS
    jobs = [(kind, n, words, place, formats) for kind in kinds for n, words in enumerate(KINDS[kind])]
    with ProcessPoolExecutor(2) as pool:
        for lines in pool.map(one, jobs):
            for line in lines:
                print(line, flush=True)
    if "svg" not in formats:
        return
    for kind in kinds:
        for target in TARGETS:
            pictures = []
            for svg in sorted(place.glob(f"{kind}_*_{target}.svg")):
                png = place / f"{svg.stem}.seen.png"
                subprocess.run(["rsvg-convert", svg, "-o", png, "--background-color", "white"], check=True)
                pictures.append(str(png))
            if pictures:
                joined(pictures, 3 if target == "column" else 2).save(place / f"sheet_{kind}_{target}.png")


def joined(pictures: list[str], across: int) -> Image.Image:
    """A sheet of pictures, so many beside each other."""
    seen = [Image.open(name).convert("RGB") for name in pictures]
    rows = [seen[n : n + across] for n in range(0, len(seen), across)]
    high = [max(one.height for one in row) + 12 for row in rows]
    sheet = Image.new("RGB", (max(sum(one.width + 12 for one in row) for row in rows), sum(high)), "#ddd")
    for n, row in enumerate(rows):
        for k, one in enumerate(row):
            sheet.paste(one, (sum(other.width + 12 for other in row[:k]), sum(high[:n])))
    return sheet


if __name__ == "__main__":
    main(*sys.argv[1:])
