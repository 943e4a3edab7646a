-- The profile of contacts that Segment's API creates ('' for none), and whether its userId is an e-mail address.
ALTER TABLE account ADD COLUMN defaultProfileID TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN userIDIsEmailaddress INTEGER NOT NULL DEFAULT 0;
