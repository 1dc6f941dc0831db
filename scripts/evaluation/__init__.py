"""The paper's experiments (its Section 6) on its nine graphs, with its mechanisms and ours, claim by claim.

    datasets         the graphs: names, publishers, and the counts by which they are recognized
    cells, results   one point of one experiment, by its parameters; what it computes
    results_folder   finished cells and arrays in a folder; each file appears whole or not
    kept_files       text and CSV in such a folder
    computed_once    figures of a graph, kept by its content and their settings
    experiments      the cells of each table and figure

    local_views, graph_arrays, cohesion_arrays, kept_arrays   what many cells need, computed once
    simulation, switching                                     many releases at once; the paper's switch `inside`
    sizes_and_densities, simulated_releases, worst_losses     from arrays to the numbers of a cell
    computing, missing_cells                                  a cell by its kind; all that are missing, in parallel

    finished_cells                                            finished cells, selected by kind and parameters
    drawing, tables, claims, which_mechanism, report_text     pictures, Markdown and verdicts
    producing        all of it together, for Python
    command_line     the same for a shell, as `scripts/evaluate`
    stored_graphs    graphs and cohesions from Neo4j instead of files
    kept_report      the report that the project keeps
    answers          how good answers are: a report of its own, on these graphs and others
    beside           private triangle counting, our mechanisms and those of other papers

The package `pcneo` does not import the evaluation, and its wheel does not hold it.
"""
