"""Pictures for print and screen, SVG and PNG, in one style: searches and mechanisms look the same in all of them.

Drawing needs matplotlib, which the extra `plot` installs. It is imported only when a picture is drawn, and needs no
display. To draw your own picture:

    with plots.new_figure(1, 2, width=plots.PAGE) as (figure, axes):
        left, right = axes[0]
        left.plot(ps, sizes, **plots.look("density").line)
        left.set(xlabel="p", ylabel="mean size (members)")
        plots.save_figure(figure, Path("sizes.svg"))
"""

from pcneo.plots.cohesion_picture import draw_cohesion
from pcneo.plots.distributions import draw_distributions, draw_profile
from pcneo.plots.page import Page, draw_page
from pcneo.plots.style import (
    LOOKS,
    PAGE,
    PAGE_ENDING,
    Look,
    check_picture,
    has_matplotlib,
    look,
    new_figure,
    save_figure,
    svg_text,
)

__all__ = [
    "LOOKS",
    "PAGE",
    "PAGE_ENDING",
    "Look",
    "Page",
    "check_picture",
    "draw_cohesion",
    "draw_distributions",
    "draw_page",
    "draw_profile",
    "has_matplotlib",
    "look",
    "new_figure",
    "save_figure",
    "svg_text",
]
