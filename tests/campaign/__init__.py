"""A campaign of faults and hostile input; a seed reproduces each case, except for what depends on timing.

    course        kinds of cases for some minutes, each for its share of the time, and the table of results
    ground        the campaign's own server with a small graph in it, and what must always hold there
    children      command lines in processes that can be killed, with faults around them

    texts         characters, names and numbers of all sorts
    graph_texts   graph files of each format, whole and damaged
    command_calls command lines without a database
    batch_texts   batch files of releases
    party_files   files between parties
    request_nodes requests to a service

    kills         of commands, of the server and of the service
    schedules     clients side by side
    histories     readers, writers, services and an editor side by side, and rules for everything they saw
    accidents     disks, outputs, memory, clocks and connections that fail
    proxy         a connection that fails
    user_locks    transactions that users leave open
    edges         graphs at the edge

A case is accepted, refused in one of pcneo's own ways, or a failure: any other exception, a traceback, a wrong answer,
lost data, a spend that is missing from the ledger, silence, too much memory, a character that a terminal obeys, a file
left behind.
"""
