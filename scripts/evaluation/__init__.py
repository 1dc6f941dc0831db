"""The paper's experiments (its Section VI) on its nine graphs, with its mechanisms and ours, claim by claim.

    datasets     the graphs: names, sources, counts that say they are the right ones
    cells        one point of one experiment, as plain parameters
    kept         finished cells and arrays in a folder, each a file that appears whole or not
    experiments  which cells make which table and figure
    views, sets  what is computed of graphs and cohesions, each once
    simulation   many releases at once, with floating-point noise that no release can have
    switching    connections that decide whether a count gets noise, under the paper's switch
    structure, releases, losses   from arrays to the numbers of a cell
    computing    which of them is a cell's
    evaluating   the cells that are missing, in parallel, with the time left
    finished     cells by their parameters
    drawing, tables, claims   from finished cells to pictures, Markdown and verdicts
    producing    the use case
    stored       graphs and cohesions from Neo4j instead of files

Nothing of `release` or `privacy` knows this package.
"""

from evaluation.producing import TARGETS, Evaluation, check_targets, evaluate, graphs_of_folder

__all__ = ["TARGETS", "Evaluation", "check_targets", "evaluate", "graphs_of_folder"]
