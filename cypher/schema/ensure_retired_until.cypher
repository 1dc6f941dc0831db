// Index retired hubs by the first version without them, for the sweep.
CREATE INDEX pcneo_retired_until IF NOT EXISTS
FOR (cohesion:PCohesionRetired)
ON (cohesion.run, cohesion.until)
