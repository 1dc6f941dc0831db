"""The style of all figures: how they are made and saved, and how each search, mechanism and local view looks.

The colours are Okabe and Ito's, with some of Paul Tol's where these did not suffice; people with colour blindness can
distinguish them. Markers, lines and hatches differ as well, so a copy without colours can still be read. No text is
smaller than 8 points at the figure's size.
"""

from __future__ import annotations

import importlib.util
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pcneo.basics.model import AnyPath
from pcneo.basics.whole_file import check_place, whole_file
from pcneo.errors import ParameterError, PcneoError, needs_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PAGE = 7.0
"""Width of a figure across a page of print, in inches."""

PAGE_ENDING = ".html"
"""The ending of an interactive picture's name."""

_ENDINGS = (".svg", ".png")
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "axes.formatter.useoffset": False,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.5,
    "savefig.dpi": 300,
    # Letters as outlines, and identifiers from a fixed salt: the same bytes on every machine.
    "svg.fonttype": "path",
    "svg.hashsalt": "pcneo",
}
_ONE_AT_A_TIME = threading.RLock()  # all threads share matplotlib's settings


@dataclass(frozen=True)
class Look:
    """The look of a search, a mechanism or a view, the same in every picture.

    Attributes:
        label: its name in legends.
        colour: `#RRGGBB`.
        marker, dash, hatch: matplotlib's marker, line style and hatch, for print without colour.
    """

    label: str
    colour: str
    marker: str
    dash: str | tuple[int, tuple[int, ...]]
    hatch: str

    @property
    def line(self) -> dict[str, Any]:
        """Keywords for `Axes.plot` and `Axes.errorbar`."""
        return {"label": self.label, "color": self.colour, "marker": self.marker, "linestyle": self.dash}


LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        # searches, and the baseline that their cohesions are compared with
        "smallest": Look("search smallest", "#332288", "o", (0, (3, 1, 1, 1, 1, 1)), "||"),
        "density": Look("search density", "#0072B2", "<", "-", ""),
        "degree": Look("search degree (reconstructed)", "#E69F00", "s", "--", "///"),
        "elv": Look("extended local view", "#009E73", "^", "-.", "\\\\\\"),
        # mechanisms; `elv` is the one above
        "critical": Look("critical", "#D55E00", "D", "-", ""),
        "edge": Look("edge", "#CC79A7", "v", "--", "..."),
        "modelled": Look("modelled", "#117733", "*", (0, (1, 1)), "oo"),
        "published": Look("published", "#56B4E9", "P", ":", "xxx"),
        "respond": Look("respond", "#882255", "X", (0, (5, 1)), "++"),
        # neither a search nor a mechanism
        "exact": Look("exact", "#000000", "x", "-", ""),
        "other": Look("other", "#BBBBBB", ".", ":", ""),
    }
)
"""The look of each search (`smallest`, `density`, `degree`), of the extended local view and of each mechanism, by its
name in the code; `exact` is the true value, `other` is anything shown only for comparison."""


def look(name: str) -> Look:
    """Return the look of a search, a mechanism or a view."""
    if name not in LOOKS:
        raise ParameterError(f"There is no look {name!r}. The looks are {', '.join(LOOKS)}.", name="name", value=name)
    return LOOKS[name]


@contextmanager
def new_figure(
    rows: int = 1,
    columns: int = 1,
    *,
    width: float = PAGE,
    height: float | None = None,
    sharex: bool | Literal["none", "all", "row", "col"] = False,
    sharey: bool | Literal["none", "all", "row", "col"] = False,
) -> Iterator[tuple[Figure, NDArray[np.object_]]]:
    """Make a figure in this style; draw inside the block, and save there or later with `save_figure`.

    Yields:
        The figure, and its axes as an object array, shape (rows, columns).
    """
    with _style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = _picture()(figsize=(width, height or rows * max(0.65 * width / columns, 1.8)), layout="constrained")
        FigureCanvasAgg(figure)  # draws into memory: no window, no pyplot
        yield figure, figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)


@cache
def _picture() -> type[Figure]:
    """Return a class of figures that a notebook displays even if matplotlib is not set up there."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            out = BytesIO()
            with _style():
                self.savefig(out, format="png", dpi=110)
            return out.getvalue()

    return Picture


def check_picture(path: AnyPath, *, or_page: bool = False) -> None:
    """Check before long work that a picture can be drawn and written at `path`."""
    path = Path(path)
    endings = (*_ENDINGS, PAGE_ENDING) if or_page else _ENDINGS
    if path.suffix.lower() not in endings:
        wanted = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise ParameterError(f"{path}: a picture's name must end in {wanted}.", name="plot", value=path)
    if path.suffix.lower() != PAGE_ENDING:
        _require_matplotlib()
    check_place(path, "plot", replace=True)


def save_figure(figure: Figure, path: AnyPath) -> None:
    """Write a figure as SVG or PNG, whole or not at all; an existing file is replaced.

    The same figure and library versions give the same bytes: no date, no random identifiers.
    """
    path = Path(path)
    check_picture(path)
    kind = path.suffix.lower().removeprefix(".")
    with _style(), whole_file(path, replace=True) as file:
        figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)


def svg_text(figure: Figure) -> str:
    """Return a figure from `new_figure` as SVG text, the same for the same figure and library versions."""
    file = StringIO()
    with _style():
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


@contextmanager
def _style() -> Iterator[None]:
    """Apply this style, and none of the user's own settings, until the block ends."""
    _require_matplotlib()
    import matplotlib.style

    with _ONE_AT_A_TIME, matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+")  # our own warning names all such letters at once
        yield


def letters_without_glyph(texts: Iterable[str]) -> str:
    """Return the letters of texts that the pictures' font lacks, each once, in order of appearance."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family="DejaVu Sans")))
    letters = dict.fromkeys("".join(texts))
    return "".join(letter for letter in letters if letter.isprintable() and not font.get_char_index(ord(letter)))


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    return importlib.util.find_spec("matplotlib") is not None


def _require_matplotlib() -> None:
    if not has_matplotlib():
        raise PcneoError(needs_extra("Pictures need matplotlib", "plot"))
