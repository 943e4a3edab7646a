-- Who sent a refused request, told apart for a day and only roughly (decisions/0005): the sender with most gives way first.
ALTER TABLE refused_request ADD COLUMN sender integer NOT NULL DEFAULT 0;
