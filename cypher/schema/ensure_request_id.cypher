// Make a request's identifier unique, so that MERGE on it places one request.
CREATE CONSTRAINT pcneo_request_id IF NOT EXISTS
FOR (request:PCohesionRequest)
REQUIRE request.id IS UNIQUE
