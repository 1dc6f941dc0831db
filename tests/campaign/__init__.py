"""A campaign of faults and hostile input; every case has a seed that brings it back, but for what time decides.

    course        kinds of cases for some minutes, each for its share of the time, and the table of what came of them
    ground        a server of the campaign's own with a small graph in it, and what must always hold there
    children      command lines in processes that can be killed, with what is wrong around them

    texts         characters, names and numbers of all sorts
    graph_texts   graph files of each format, whole and damaged
    command_calls command lines without a database
    batch_texts   batch files of releases
    party_files   files between parties
    request_nodes requests to a service

    kills         of commands, of the server and of the service
    schedules     clients side by side
    histories     readers, writers, services and an editor side by side, and rules for all that was seen
    accidents     disks, outputs, memory, clocks and lines that fail
    proxy         a line that fails
    user_locks    transactions that users leave open
    edges         graphs at the edge

A case is accepted, refused in one of pcneo's own ways, or a failure: any other exception, a traceback, a wrong answer,
lost data, a spend that the ledger does not have, silence, too much memory, a character that a terminal obeys, a file
left behind.
"""
