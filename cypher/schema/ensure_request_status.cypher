// Index requests by their status.
CREATE INDEX pcneo_request_status IF NOT EXISTS
FOR (request:PCohesionRequest)
ON (request.status)
