"""The writer to compare with: one string join, a rect and a text per cell; cells a side and lines of a label as arguments."""

import sys

HUES = ("#7ad", "#e86", "#ed8", "#fab", "#9df", "#4b9", "#bc3", "#aa0")


def written(n: int, lines: int) -> str:
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {n * 40} {n * 26}"><g font-size="11" text-anchor="middle">']
    for r in range(n):
        for c in range(n):
            i = r * n + c
            parts.append(f'<rect x="{c * 40}" y="{r * 26}" width="40" height="26" fill="{HUES[i % 8]}"/>')
            for line in range(lines):
                parts.append(f'<text x="{c * 40 + 20}" y="{r * 26 + 17 + 9 * line}">{i}</text>')
    parts.append("</g></svg>\n")
    return "".join(parts)


if __name__ == "__main__":
    side, depth = [int(word) for word in sys.argv[1:3]] or [256, 1]
    with open("/dev/stdout" if sys.argv[3:] == ["-"] else "/dev/null", "w") as file:
        file.write(written(side, depth))
