-- Who sent a refused request, told apart for a day and only roughly (decisions/0005): the sender with most gives way first.
ALTER TABLE refused_request ADD COLUMN sender INTEGER NOT NULL DEFAULT 0;
DROP INDEX refused_request_by_token;
CREATE INDEX refused_request_by_sender ON refused_request (token, sender, refused, bytes);
