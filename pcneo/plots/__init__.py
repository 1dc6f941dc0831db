"""Pictures for print and screen: one style, the same look for the same thing everywhere, SVG and PNG.

Drawing needs matplotlib, an extra (`pip install 'pcneo[plot]'`); it is imported when something is drawn, and no display
is ever asked for. A picture of one's own:

    with plots.new_figure(1, 2, width=plots.PAGE) as (figure, axes):
        left, right = axes[0]
        left.plot(ps, sizes, **plots.look("density").line)
        left.set(xlabel="p", ylabel="mean size (members)")
        plots.save_figure(figure, Path("sizes.svg"))
"""

from pcneo.plots.cohesion_picture import draw_cohesion
from pcneo.plots.distributions import draw_distributions
from pcneo.plots.style import COLUMN, LOOKS, PAGE, Look, check_picture, look, new_figure, save_figure

__all__ = [
    "COLUMN",
    "LOOKS",
    "PAGE",
    "Look",
    "check_picture",
    "draw_cohesion",
    "draw_distributions",
    "look",
    "new_figure",
    "save_figure",
]
