"""What Python users hold: a database, its graphs and runs, cohesions, and the results of a release.

These objects have the verbs; the rooms below do the work. They hold a database connection and stay in the process that
made them; the results that they return hold none. No room below imports them.
"""
