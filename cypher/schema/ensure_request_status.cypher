// Find requests by their status.
CREATE INDEX IF NOT EXISTS
FOR (request:PCohesionRequest)
ON (request.status)
