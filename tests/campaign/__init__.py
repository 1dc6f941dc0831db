"""A campaign of hostile input: what it tries is drawn from grammars, and every case has a seed that brings it back.

    course        runs kinds of cases in turns for some minutes, and the table of what came of them
    texts         characters, names and numbers of all sorts
    graph_texts   graph files of each format, whole and damaged
    command_calls command lines without a database
    batch_texts   batch files of releases

A case is accepted, refused in one of pcneo's own ways, or a failure: any other exception, a traceback, a wrong answer,
more than ten seconds, a character that a terminal obeys, a file left behind.
"""
