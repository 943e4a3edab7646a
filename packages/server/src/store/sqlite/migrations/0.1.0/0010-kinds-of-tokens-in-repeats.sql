-- A page must not shadow a server's event: the kind of token is part of what is known of a repeat. Of events that were kept
-- before, the kind is not known; each is a repeat for both kinds, until it is old enough to be forgotten.
ALTER TABLE event_repeat RENAME TO event_repeat_of_either;

-- Who sent which eventUUID on which day: `holder` is the user, or minus the contact when there is no user.
CREATE TABLE event_repeat (
  day INTEGER NOT NULL,
  eventUUID TEXT NOT NULL,
  holder INTEGER NOT NULL,
  server INTEGER NOT NULL, -- 1 with a server token, 0 with a browser token
  PRIMARY KEY (day, eventUUID, holder, server)
) STRICT, WITHOUT ROWID;
