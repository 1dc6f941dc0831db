// Index the hubs of a run by the version they came with: what a dead writer left is beyond every version.
// No index has `until`: hubs would move within it behind a reader.
CREATE INDEX pcneo_cohesion_from IF NOT EXISTS
FOR (cohesion:PCohesion)
ON (cohesion.run, cohesion.from)
