-- What each commit would write on many pages is written later, for many commits together.

-- What the latest commits add to event_total: few rows beside each other, where each of event_total's is on a page of its own.
-- A count is the sum of both. See totals.ts for when they are moved.
CREATE TABLE recent_total (
  account INTEGER NOT NULL,
  eventID INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  count INTEGER NOT NULL,
  firstTime INTEGER NOT NULL,
  lastTime INTEGER NOT NULL,
  PRIMARY KEY (account, eventID, quarter)
) STRICT, WITHOUT ROWID;

-- Up to here, event_repeat knows the events: of what came later, their blocks do. See recent-repeats.ts.
ALTER TABLE position ADD COLUMN remembered INTEGER NOT NULL DEFAULT 0;
UPDATE position SET remembered = sequence;
