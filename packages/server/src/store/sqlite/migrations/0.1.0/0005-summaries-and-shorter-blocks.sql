-- What a segment's blocks hold, so that a read passes over those that it needs not look at. A segment that is older than this
-- has no summary at first: its blocks are read until it has one.
CREATE TABLE segment_summary (
  segment INTEGER PRIMARY KEY, -- written last: what the tables below say of the segment is whole
  slices INTEGER NOT NULL,     -- bits of a block's signature: see signature.ts
  blocks BLOB NOT NULL         -- where each block is, and when its events happened: see summary-draft.ts
) STRICT;

-- The signatures, bit by bit: of each bit, in which blocks it is set. A slice without any is not there.
CREATE TABLE segment_slice (
  segment INTEGER NOT NULL,
  slice INTEGER NOT NULL,
  blocks BLOB NOT NULL, -- the first block is the lowest bit of the first byte
  PRIMARY KEY (segment, slice)
) STRICT, WITHOUT ROWID;

-- Whose events of a kind are in a segment, and in which quarters of an hour they happened: see visitor-list.ts.
CREATE TABLE segment_visitors (
  segment INTEGER NOT NULL,
  account INTEGER NOT NULL,
  eventID INTEGER NOT NULL,
  visitors BLOB NOT NULL,
  PRIMARY KEY (segment, account, eventID)
) STRICT, WITHOUT ROWID;

-- What the eventUUIDs of a block begin with may stand once, and ages be told from the first on: see event-block.ts.
DROP VIEW event;
-- For people: one event a row. The columns of a block hold one value for all of its events, or an array.
CREATE VIEW event AS
WITH
numbered AS (
  SELECT b.through, b.events, e.key AS nth, coalesce(b.events ->> '$.eventUUIDStart', '') || e.value AS eventUUID,
    coalesce(b.events ->> ('$.named[' || e.key || ']'), b.events ->> '$.named') AS names
  FROM event_block b, json_each(b.events, '$.eventUUID') e
),
-- Where in the block's values those of the event begin.
placed AS (
  SELECT *, sum(json_array_length(events, '$.names[' || names || ']')) OVER (
    PARTITION BY through ORDER BY nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS start
  FROM numbered
),
told AS (
  SELECT events, nth, eventUUID, names, coalesce(start, 0) AS start,
    (events ->> '$.receivedTime.from')
      + coalesce(events ->> ('$.receivedTime.by[' || nth || ']'), nth * (events ->> '$.receivedTime.by')) AS receivedTime
  FROM placed
)
SELECT
  (events ->> '$.sequence.from')
    + coalesce(events ->> ('$.sequence.by[' || nth || ']'), nth * (events ->> '$.sequence.by')) AS sequence,
  coalesce(events ->> ('$.day[' || nth || ']'), events ->> '$.day') AS day,
  coalesce(events ->> ('$.account[' || nth || ']'), events ->> '$.account') AS account,
  iif(json_type(events, '$.user') = 'array', events ->> ('$.user[' || nth || ']'), events ->> '$.user') AS user,
  iif(json_type(events, '$.contact') = 'array', events ->> ('$.contact[' || nth || ']'), events ->> '$.contact') AS contact,
  coalesce(events ->> ('$.eventID[' || nth || ']'), events ->> '$.eventID') AS eventID,
  eventUUID,
  receivedTime - iif(
    json_type(events, '$.age') = 'object',
    (events ->> '$.age.from') + coalesce(events ->> ('$.age.by[' || nth || ']'), nth * (events ->> '$.age.by')),
    coalesce(events ->> ('$.age[' || nth || ']'), events ->> '$.age')
  ) AS eventTime,
  receivedTime,
  coalesce(events ->> ('$.timeReplaced[' || nth || ']'), events ->> '$.timeReplaced') AS timeReplaced,
  (
    SELECT json_group_object(name.value, iif(
      json_type(events, '$.values[' || (start + name.key) || ']') = 'integer',
      events ->> ('$.words[' || (events ->> ('$.values[' || (start + name.key) || ']')) || ']'),
      events ->> ('$.values[' || (start + name.key) || ']')
    ))
    FROM json_each(events, '$.names[' || names || ']') name
  ) AS attributes
FROM told;
