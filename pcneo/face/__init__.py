"""What Python users hold: a database, its graphs and runs, cohesions, and what a release made.

These objects have the verbs; the rooms below have the work. They hold a database and stay in the process that made
them; what comes back holds none. No room below imports them.
"""
