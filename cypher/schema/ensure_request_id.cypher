// Make a request's identifier unique, so that MERGE on it places the request once.
CREATE CONSTRAINT pcneo_request_id IF NOT EXISTS
FOR (request:PCohesionRequest)
REQUIRE request.id IS UNIQUE
