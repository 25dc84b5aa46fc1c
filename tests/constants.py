"""Random constant functions, macros and expressions of C++, whose values g++ tells; none of them overflows a signed integer."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

TYPES = ("int", "unsigned", "long long", "unsigned char", "short", "bool", "signed char", "unsigned long", "size_t", "int64_t")
HEAD = "#include <cstdint>\n#include <cstddef>\n#include <utility>\n#include <algorithm>\n"


class Maker:
    """One function after another, from a seed; `functions` holds the names that later ones may call, with what they take."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.functions: list[tuple[str, int]] = []
        self.structs: list[tuple[str, list[str]]] = []
        self.macros: list[tuple[str, int]] = []
        self.names = 0
        self.truths: set[str] = set()  # variables of bool, or of what nobody says

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def leaf(self, seen: list[str]) -> str:
        rng = self.rng
        if seen and rng.random() < 0.7:
            return rng.choice(seen)
        number = rng.choice([0, 1, 2, 3, 5, 7, 8, 10, 16, 31, 100, 255])
        return rng.choice(
            [str(number), str(number), f"{number}u", hex(number), f"{number}LL", "true", "'a'", f"sizeof({rng.choice(TYPES)})"]
        )

    def small(self, seen: list[str]) -> str:
        """A value of a few digits."""
        return f"({self.leaf(seen)} % {self.rng.choice([7, 10, 13, 50, 97])})"

    def expression(self, seen: list[str], depth: int = 2) -> str:
        rng = self.rng
        if depth == 0:
            return self.small(seen)
        a, b = self.expression(seen, depth - 1), self.expression(seen, depth - 1)
        kind = rng.randrange(16)
        if kind < 5:
            return f"({a} {rng.choice('+-+-*' if depth == 1 else '+-+-+')} {b})"
        if kind == 5:
            return f"({a} {rng.choice('/%')} {rng.choice([2, 3, 4, 7, 8])})"
        if kind == 6:
            return f"({a} {rng.choice('&|^')} {b})"
        if kind == 7:
            return f"({a} {rng.choice(['<<', '>>'])} {rng.randrange(4)})"
        if kind == 8:
            return f"({a} {rng.choice(['<', '>', '<=', '>=', '==', '!='])} {b})"
        if kind == 9:
            return f"({self.condition(seen)} ? {a} : {b})"
        if kind == 10:
            return rng.choice([f"(-{a})", f"(~{a})", f"(!{a})", f"(+{a})"])
        if kind == 11:
            cast = rng.choice(TYPES)
            return f"(({cast}){a} % 100)" if rng.random() < 0.5 else f"(static_cast<{cast}>({a}) % 100)"
        if kind == 12 and self.functions:
            called, count = rng.choice(self.functions)
            return f"({called}({', '.join(self.small(seen) for _ in range(count))}) % 100)"
        if kind == 13 and self.macros:
            called, count = rng.choice(self.macros)
            return f"({called}({', '.join(self.small(seen) for _ in range(count))}) % 100)" if count else f"({called} % 100)"
        if kind == 14:
            return f"(({b}) ? {a} / ({b} ? {b} : 1) : {a})" if depth == 1 else f"({a} + {self.small(seen)})"
        return self.small(seen)

    def condition(self, seen: list[str]) -> str:
        rng = self.rng
        test = f"{self.small(seen)} {rng.choice(['<', '>', '<=', '>=', '==', '!='])} {self.small(seen)}"
        if rng.random() < 0.2:
            return f"({test}) {rng.choice(['&&', '||'])} {self.small(seen)}"
        return rng.choice([test, test, self.small(seen), f"!({test})"])

    def block(self, seen: list[str], free: list[str], depth: int, loop: bool) -> list[str]:
        """Statements over variables that are seen, of which those that are free may be assigned to."""
        seen, free = list(seen), list(free)
        out = []
        for _ in range(self.rng.randint(1, 3)):
            out += self.statement(seen, free, depth, loop)
        return out

    def braced(self, head: str, seen: list[str], free: list[str], depth: int, loop: bool = False, tail: str = "") -> list[str]:
        return [f"{head} {{", *(f"  {line}" for line in self.block(seen, free, depth - 1, loop)), f"}}{tail}"]

    def statement(self, seen: list[str], free: list[str], depth: int, loop: bool) -> list[str]:
        rng = self.rng
        kind = rng.randrange(18)
        if kind < 3 or not free:
            name, kind_name = self.name("v"), rng.choice([*TYPES, "auto", "int", "const int"])
            opens = (
                rng.choice([" = {};", " = {};", "({});"])
                if " " in kind_name or kind_name == "auto"
                else rng.choice([" = {};", "({});"])
            )
            value = f"({self.expression(seen)}) % 1000"
            seen.append(name)
            if "const" not in kind_name:
                free.append(name)
            if kind_name in ("bool", "auto"):
                self.truths.add(name)
            return [f"{kind_name} {name}{opens.format(value)}"]
        target = rng.choice(free)
        if kind < 5:
            return [f"{target} = ({self.expression(seen)}) % 1000;"]
        if kind == 5:
            return [f"{target} {rng.choice(['+=', '-=', '^=', '|=', '&='])} {self.small(seen)}; {target} = {target} % 1000;"]
        if kind == 6:
            return [f"{target} {rng.choice(['/=', '%=', '>>=', '<<='])} {rng.choice([1, 2, 3])}; {target} %= 1000;"]
        if kind == 7 and target not in self.truths:
            return [
                rng.choice(["++{0};", "{0}++;", "{0} = ({0}++, {0} * 2) % 500;"]).format(target) + f" {target} = {target} % 1000;"
            ]
        if kind == 8 and depth:
            out = self.braced(f"if ({self.condition(seen)})", seen, free, depth, loop)
            if rng.random() < 0.5:
                out[-1] += " else {"
                out += [*(f"  {line}" for line in self.block(seen, free, depth - 1, loop)), "}"]
            return out
        if kind == 9 and depth:
            i = self.name("i")
            head = f"for (int {i} = 0; {i} < {rng.randint(1, 6)}; {rng.choice([f'++{i}', f'{i}++', f'{i} += 2'])})"
            return self.braced(head, [*seen, i], free, depth, loop=True)
        if kind == 10 and depth:
            i = self.name("w")
            body = self.block([*seen, i], free, depth - 1, True)
            lines = [f"  {line}" for line in body]
            if rng.random() < 0.5:
                return [f"int {i} = {rng.randint(1, 5)};", f"while ({i}-- > 0) {{", *lines, "}"]
            return [f"int {i} = 0;", "do {", *lines, f"}} while (++{i} < {rng.randint(1, 4)});"]
        if kind == 11 and depth:
            out = [f"switch (({self.expression(seen, 1)}) % 4) {{"]
            for n in rng.sample([-1, 0, 1, 2, 3], rng.randint(1, 3)):
                out += [f"  case {n}: {{", *(f"    {x}" for x in self.block(seen, free, depth - 1, False)), "  }"]
                out += ["  break;"] if rng.random() < 0.6 else []
            if rng.random() < 0.6:
                out += ["  default: {", *(f"    {x}" for x in self.block(seen, free, depth - 1, False)), "  }"]
            return [*out, "}"]
        if kind == 12 and loop:
            return [f"if ({self.condition(seen)}) {rng.choice(['break', 'continue'])};"]
        if kind == 13:
            name = self.name("r")
            self.truths |= {name} if target in self.truths else set()
            seen.append(name)
            free.append(name)
            return [f"auto& {name} = {target};", f"{name} = ({self.expression(seen)}) % 1000;"]
        if kind == 14:
            name, capture = self.name("l"), rng.choice(["&", "&", "=", f"&{target}", f"={', &' + target}"])
            inside = seen if capture in ("&", "=") or capture[0] == "=" else [target]
            changes = "&" in capture
            body = f"{target} = ({self.expression([*inside, 'p'], 1)}) % 1000; " if changes else ""
            call = f"{target} = {name}({self.small(seen)}) % 1000;"
            return [f"auto {name} = [{capture}](int p) {{ {body}return ({self.expression([*inside, 'p'], 1)}) % 1000; }};", call]
        if kind == 15:
            same = [x for x in free if x[0] == "s"] if target[0] == "s" else []
            if len(same) > 1:
                return [f"std::swap({same[0]}, {same[1]});"]
            names = self.name("s"), self.name("s")
            seen += names
            free += names
            return [f"int {x} = {self.small(seen[:-2])};" for x in names] + [f"std::swap({names[0]}, {names[1]});"]
        if kind == 16 and self.structs:
            struct, members = rng.choice(self.structs)
            name = self.name("o")
            given = ", ".join(f"int({self.small(seen)})" for _ in members[: rng.randint(0, len(members))])
            out = [f"{struct} {name}{{{given}}};"]
            if rng.random() < 0.6:
                out.append(f"{name}.{rng.choice(members)} += {self.small(seen)};")
            if rng.random() < 0.4:
                out.append(f"{name}.add(int({self.small(seen)}));")
            if rng.random() < 0.3:
                other = self.name("o")
                out += [f"{struct} {other} = {name};", f"{other}.{members[0]} = 77;"]
            return [*out, f"{target} = ({name}.get() + {name}.{members[-1]}) % 1000;"]
        if kind == 17:
            name, count, i = self.name("a"), rng.randint(2, 4), self.name("i")
            given = ", ".join(f"int({self.small(seen)})" for _ in range(rng.randint(1, count)))
            out = [f"int {name}[{count}] = {{{given}}};", f"{name}[{rng.randrange(count)}] = int({self.small(seen)});"]
            out.append(f"for (int {i} = 0; {i} < {count}; {i}++) {{ {target} = ({target} + {name}[{i}]) % 1000; }}")
            return out
        return [f"{target} = {self.small(seen)};"]

    def struct(self) -> str:
        name, members = self.name("S"), [self.name("m") for _ in range(self.rng.randint(1, 3))]
        fields = " ".join(f"int {m} = {self.rng.randrange(20)};" for m in members)
        self.structs.append((name, members))
        return (
            f"struct {name} {{ {fields} static constexpr int k = {self.rng.randrange(9)}; "
            f"constexpr int get() const {{ return ({self.expression([*members, 'k'])}) % 1000; }} "
            f"constexpr void add(int p) {{ {members[0]} += p; {members[-1]} = ({members[-1]} + k) % 500; }} }};"
        )

    def macro(self) -> str:
        rng = self.rng
        name, count = self.name("M"), rng.randint(0, 3)
        params = ["x", "y", "z"][:count]
        body = self.expression([*params], 1) if params else self.expression([], 1)
        kind = rng.randrange(6)
        if params and kind < 3:  # without parentheses: tokens, not values
            body = f" {rng.choice('+-*')} ".join([*params, str(rng.randrange(9))])
        if kind == 3 and self.macros:
            other, arity = rng.choice(self.macros)
            body = (
                f"{other}({', '.join((params or ['2'])[n % max(1, len(params))] for n in range(arity))}) + 1"
                if arity
                else f"{other} * 3"
            )
        text = f"#define {name}({', '.join(params)}) {body}" if params else f"#define {name} {body}"
        if kind == 4 and params:
            text = f"#define {name}(...) {name}_(__VA_ARGS__, 7)\n#define {name}_(x, ...) (x * 2 + {name}__(__VA_ARGS__))\n"
            text += f"#define {name}__(y, ...) y"
        if kind == 5 and params:
            text = f"#define {name}({', '.join(params)}) ({params[0]} + 1{rng.randrange(9)}##{rng.randrange(9)})"
        self.macros.append((name, count))
        return text

    def function(self) -> str:
        rng = self.rng
        name, count = self.name("f"), rng.randint(1, 3)
        params = [self.name("p") for _ in range(count)]
        kinds = [rng.choice([*TYPES, "int", "int", "int"]) for _ in params]
        self.truths |= {p for k, p in zip(kinds, params, strict=True) if k == "bool"}
        result = rng.choice(["auto", "int", "long long", "unsigned", "bool", "unsigned char", "short"])
        head = f"constexpr {result} {name}({', '.join(f'{k} {p}' for k, p in zip(kinds, params, strict=True))})"
        if rng.random() < 0.15:
            body = [f"if ({params[0]} <= 0 || {params[0]} > 12) return {rng.randrange(5)};"]
            rest = "".join(f", {self.small(params)}" for _ in params[1:])
            body += [f"return ({self.small(params)} + {name}(int({params[0]}) - {rng.choice([1, 2])}{rest})) % 1000;"]
            head = head.replace("constexpr auto", "constexpr int").replace(f"({kinds[0]} {params[0]}", f"(int {params[0]}")
        else:
            seen, body = list(params), []
            free = list(params)
            for _ in range(rng.randint(2, 6)):
                body += self.statement(seen, free, 2, False)
            if rng.random() < 0.3 and result != "auto":
                body.insert(
                    len(body) // 2 if "{" not in "".join(body) else 0, f"if ({self.condition(params)}) return {self.small(params)};"
                )
            body.append(f"return ({self.expression(seen)}) % 1000;")
        self.functions.append((name, count))
        return "\n".join([f"{head} {{", *(f"  {line}" for line in body), "}"])

    def program(self, count: int) -> tuple[str, list[str]]:
        """So many values, with all that they are computed by, and their names."""
        parts, names = [], []
        for _ in range(count):
            if self.rng.random() < 0.12 or not self.structs:
                parts.append(self.struct())
            if self.rng.random() < 0.2:
                parts.append(self.macro())
            if self.rng.random() < 0.6 or not self.functions:
                parts.append(self.function())
            name = self.name("c")
            called, arity = self.rng.choice(self.functions[-5:])
            call = f"{called}({', '.join(str(self.rng.randint(-9, 40)) for _ in range(arity))})"
            text = call if self.rng.random() < 0.7 else self.expression([], 2)
            parts.append(f"constexpr auto {name} = {text};")
            names.append(name)
        return "\n".join([HEAD, *parts]), names


def by_compiler(text: str, names: list[str], folder: Path) -> dict[str, int]:
    """The values as g++ -std=c++20 has them."""
    prints = "\n".join(f'  std::printf("{name} %lld\\n", (long long){name});' for name in names)
    (folder / "t.cpp").write_text(f"#include <cstdio>\n{text}\nint main() {{\n{prints}\n}}\n")
    subprocess.run(
        ["g++", "-std=c++20", "-w", "-o", str(folder / "t"), str(folder / "t.cpp")], check=True, capture_output=True, timeout=300
    )
    rows = subprocess.run([str(folder / "t")], check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    return {row.split()[0]: int(row.split()[1]) for row in rows}


def by_reader(text: str, names: list[str]) -> dict[str, int | str]:
    """The values as the reader has them; the cause of one that is not known."""
    from cute_viz.errors import CuteVizError
    from cute_viz.source.cpp import read
    from cute_viz.source.model import Given

    file, out = read(text, Given()), {}
    for name in names:
        try:
            value = file.find(name).read()
            out[name] = (int(value) + (1 << 63)) % (1 << 64) - (1 << 63)  # as a long long
        except CuteVizError as error:
            out[name] = error.line()
    return out
