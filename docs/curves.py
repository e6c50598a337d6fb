"""The curves of docs/concepts/dynamics.md, drawn from the functions themselves as plain SVG.

python docs/curves.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hy_memory.dynamics.salience import RATES, START, USE_GAIN, faded, repeated

FOLDER = Path(__file__).parent / "concepts"
_WIDTH, _HEIGHT, _LEFT, _TOP = 640, 320, 48, 16
_COLOURS = ("#1b6ca8", "#d1495b", "#2a9d5c", "#8e5ea2", "#c77d0a")
Curve = tuple[str, Sequence[tuple[float, float]]]


def fading() -> str:
    """Return what a memory of each kind is after so many days without use."""
    days = range(0, 366, 5)
    curves = [(sector.value, [(day, faded(START, day, sector)) for day in days]) for sector in RATES]
    return drawn(curves, 365.0, "days without use")


def growing() -> str:
    """Return what a memory is after so many uses, all at once, and what it would be were none worth less."""
    shrinking, steady = [(0.0, START)], [(0.0, START)]
    for time in range(20):
        shrinking.append((time + 1.0, repeated(shrinking[-1][1], USE_GAIN, time)))
        steady.append((time + 1.0, repeated(steady[-1][1], USE_GAIN, 0)))
    return drawn([("as it is", shrinking), ("without shrinking gains", steady)], 20.0, "uses")


def drawn(curves: Sequence[Curve], most: float, below: str) -> str:
    """Return curves over 0 … `most` with values from 0 to 1."""

    def place(x: float, y: float) -> str:
        return f"{_LEFT + x / most * _WIDTH:.1f},{_TOP + (1 - y) * _HEIGHT:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 150} {_TOP + _HEIGHT + 48}"'
        ' font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for level in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        line = f"{place(0, level)} {place(most, level)}"
        parts.append(f'<polyline points="{line}" stroke="#ddd" fill="none"/>')
        parts.append(words((_LEFT - 8, _TOP + (1 - level) * _HEIGHT + 4), f"{level:.1f}", "end"))
        parts.append(words((_LEFT + level * _WIDTH, _TOP + _HEIGHT + 18), f"{most * level:.0f}", "middle"))
    for number, (name, points) in enumerate(curves):
        colour = _COLOURS[number]
        line = " ".join(place(x, y) for x, y in points)
        parts.append(f'<polyline points="{line}" stroke="{colour}" stroke-width="2" fill="none"/>')
        parts.append(words((_LEFT + _WIDTH + 10, _TOP + 14 + 20 * number), name, "start", colour))
    parts.append(words((_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 40), below, "middle"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def words(place: tuple[float, float], text: str, anchor: str, colour: str = "#333") -> str:
    """Return a text that begins, ends or has its middle at a place."""
    x, y = place
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


FIGURES = {"salience-fading.svg": fading, "salience-growing.svg": growing}


def main() -> None:
    """Write the figures."""
    for name, figure in FIGURES.items():
        (FOLDER / name).write_text(figure(), encoding="utf-8")


if __name__ == "__main__":
    main()
