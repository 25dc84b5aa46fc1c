"""A picture inside a page that has a theme of its own: SVG that follows its toggle, and the page of `html` in a frame."""

from __future__ import annotations

import re
from functools import reduce
from html import escape

_STYLE = re.compile(r"<style>(@media \(prefers-color-scheme:dark\)\{)?((?:\.[\w-]+\{[^{}]*\})+)\}?</style>")
_RULE = re.compile(r"\.([\w-]+)(\{[^{}]*\})")
# what pages mark with: furo, pydata and others; Bootstrap; Material; JupyterLab; VS Code; our own
DARK = (
    ":is([data-theme=dark],[data-bs-theme=dark],[data-md-color-scheme=slate],[data-jp-theme-light=false],"
    "[data-vscode-theme-kind=vscode-high-contrast],.vscode-dark,.dark)"
)
_OTHERS = (
    ("dark]", "light]"),
    ("slate", "default"),
    ("=false", "=true"),
    ("contrast]", "contrast-light]"),
    ("-dark,.dark", "-light,.light"),
)
LIGHT = reduce(lambda words, pair: words.replace(*pair), _OTHERS, DARK)
# tells the framed page how dark the page around it is, now and whenever its theme is another: by the color behind it, of which a
# canvas knows every spelling, else by what the page is marked with (VS Code's outputs have no color), else as the system is
FOLLOW = (
    "const f=this,x=document.createElement('canvas').getContext('2d'),say=()=>{"
    f"const is=s=>document.documentElement.matches(s)||document.body.matches(s);let d=is('{DARK}')||!is('{LIGHT}')"
    "&&matchMedia('(prefers-color-scheme:dark)').matches;"
    "for(let e=f;e;e=e.parentElement||e.getRootNode().host){x.clearRect(0,0,1,1);x.fillStyle=getComputedStyle(e).backgroundColor;"
    "x.fillRect(0,0,1,1);const c=x.getImageData(0,0,1,1).data;if(c[3]>127){d=.3*c[0]+.6*c[1]+.1*c[2]<128;break}}"
    "f.contentWindow.postMessage({theme:d?'dark':'light'},'*')};say();const o=new MutationObserver(()=>setTimeout(say,80));"
    "for(const e of[document.documentElement,document.body])o.observe(e,{attributes:true})"
)
BESIDE = 130  # px that the page of a frame needs beside its picture


def inlined(svg: str) -> str:
    """An SVG for the text of a page: its rules hold for it alone, and follow the page's theme, or else the system's."""
    found = _STYLE.search(svg)
    if found is not None:
        rules = _RULE.findall(found[2])
        always = "".join(f".cv .{name}{rule}" for name, rule in rules)
        if found[1]:
            system = "".join(f":root:not({LIGHT},:has(>body{LIGHT})) .cv .{name}{rule}" for name, rule in rules)
            chosen = "".join(f"{DARK} .cv .{name}{rule}" for name, rule in rules)
            always = f"@media (prefers-color-scheme:dark){{{system}}}{chosen}"
        svg = f"{svg[: found.start()]}<style>{always}</style>{svg[found.end() :]}"
    return svg.replace("<svg ", '<svg class="cv" ', 1)


def framed(page: str, title: str, *, source: str = "", fallback: str = "") -> str:
    """The page of a picture in a frame that cannot reach the page around it, as high as its picture.

    source: the address of the page, which otherwise stands in the frame itself. fallback: what is shown where frames are removed.
    """
    found = re.search(r'<svg [^>]*?height="([\d.]+)"', page)
    height = min(900, int(float(found[1]) if found else 400) + BESIDE)
    where = f'src="{escape(source)}"' if source else f'srcdoc="{escape(page)}"'
    return (
        f'<iframe sandbox="allow-scripts" loading="lazy" title="{escape(title)}" style="width:100%;height:{height}px;border:0" '
        f'onload="{escape(FOLLOW)}" {where}>{fallback}</iframe>'
    )
