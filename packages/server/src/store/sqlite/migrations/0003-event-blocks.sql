-- Events lie in blocks instead of rows: see event-block.ts for what is in one. The rows are shown by the view below.
ALTER TABLE position ADD COLUMN clockDay INTEGER NOT NULL DEFAULT 0; -- the day that the clock showed last
ALTER TABLE position ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;   -- up to here, no block is small because its commit was
ALTER TABLE position ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;  -- up to here, event_posting knows whose the events are
UPDATE position SET clockDay = coalesce((SELECT receivedTime FROM event ORDER BY sequence DESC LIMIT 1) / 86400000, day);

CREATE TABLE event_block (
  through INTEGER PRIMARY KEY, -- the sequence of its last event, when it was written; the others come after the block before
  count INTEGER NOT NULL,
  events TEXT NOT NULL -- JSON: a column for each thing that is known of an event
) STRICT;

WITH
numbered AS (
  SELECT *, (row_number() OVER (ORDER BY sequence) - 1) / 64 AS block,
    (SELECT json_group_array(key ORDER BY id) FROM json_each(attributes)) AS names,
    (SELECT group_concat(json_quote(value), ',' ORDER BY id) FROM json_each(attributes)) AS said
  FROM event
),
based AS (
  SELECT *, first_value(sequence) OVER events AS firstSequence, first_value(receivedTime) OVER events AS firstReceived,
    row_number() OVER events - 1 AS nth
  FROM numbered WINDOW events AS (PARTITION BY block ORDER BY sequence)
)
INSERT INTO event_block
SELECT max(sequence), count(*), json_object(
  'sequence', json_object('from', min(firstSequence), 'by', json_group_array(sequence - firstSequence ORDER BY sequence)),
  'day', json_group_array(day ORDER BY sequence),
  'account', json_group_array(account ORDER BY sequence),
  'user', json_group_array(user ORDER BY sequence),
  'contact', json_group_array(contact ORDER BY sequence),
  'eventID', json_group_array(eventID ORDER BY sequence),
  'eventUUID', json_group_array(eventUUID ORDER BY sequence),
  'receivedTime', json_object('from', min(firstReceived), 'by', json_group_array(receivedTime - firstReceived ORDER BY sequence)),
  'age', json_group_array(receivedTime - eventTime ORDER BY sequence),
  'timeReplaced', json_group_array(timeReplaced ORDER BY sequence),
  'names', json_group_array(json(names) ORDER BY sequence),
  'named', json_group_array(nth ORDER BY sequence),
  'values', json('[' || coalesce(group_concat(said, ',' ORDER BY sequence), '') || ']'),
  'words', json_array()
)
FROM based GROUP BY block;

DROP TABLE event;

-- A stretch of the order whose events event_posting knows: after < sequence <= through.
CREATE TABLE event_segment (
  segment INTEGER PRIMARY KEY,
  after INTEGER NOT NULL,
  through INTEGER NOT NULL
) STRICT;

-- In which blocks of a segment a user's events are, a contact's (logged with its contactUUID), an account's, a kind's.
CREATE TABLE event_posting (
  segment INTEGER NOT NULL,
  what INTEGER NOT NULL,    -- 0 user, 1 contact, 2 account, 3 kind
  number INTEGER NOT NULL,  -- of the user, the contact, or the account
  eventID INTEGER NOT NULL, -- of a kind, else 0
  blocks TEXT NOT NULL,     -- JSON: how far each one's through is after the segment's beginning, ascending
  PRIMARY KEY (segment, what, number, eventID)
) STRICT, WITHOUT ROWID;

-- For people: one event a row. The columns of a block hold one value for all of its events, or an array.
CREATE VIEW event AS
WITH told AS (
  SELECT b.events, e.key AS nth, e.value AS eventUUID,
    CASE json_type(b.events, '$.named') WHEN 'array' THEN b.events ->> ('$.named[' || e.key || ']') ELSE b.events ->> '$.named' END
      AS names
  FROM event_block b, json_each(b.events, '$.eventUUID') e
)
SELECT
  (events ->> '$.sequence.from') + CASE json_type(events, '$.sequence.by')
    WHEN 'array' THEN events ->> ('$.sequence.by[' || nth || ']') ELSE nth * (events ->> '$.sequence.by') END AS sequence,
  CASE json_type(events, '$.day') WHEN 'array' THEN events ->> ('$.day[' || nth || ']') ELSE events ->> '$.day' END AS day,
  CASE json_type(events, '$.account')
    WHEN 'array' THEN events ->> ('$.account[' || nth || ']') ELSE events ->> '$.account' END AS account,
  CASE json_type(events, '$.user') WHEN 'array' THEN events ->> ('$.user[' || nth || ']') ELSE events ->> '$.user' END AS user,
  CASE json_type(events, '$.contact')
    WHEN 'array' THEN events ->> ('$.contact[' || nth || ']') ELSE events ->> '$.contact' END AS contact,
  CASE json_type(events, '$.eventID')
    WHEN 'array' THEN events ->> ('$.eventID[' || nth || ']') ELSE events ->> '$.eventID' END AS eventID,
  eventUUID,
  (events ->> '$.receivedTime.from') + CASE json_type(events, '$.receivedTime.by')
    WHEN 'array' THEN events ->> ('$.receivedTime.by[' || nth || ']') ELSE nth * (events ->> '$.receivedTime.by') END AS receivedTime,
  CASE json_type(events, '$.age') WHEN 'array' THEN events ->> ('$.age[' || nth || ']') ELSE events ->> '$.age' END AS age,
  CASE json_type(events, '$.timeReplaced')
    WHEN 'array' THEN events ->> ('$.timeReplaced[' || nth || ']') ELSE events ->> '$.timeReplaced' END AS timeReplaced,
  (
    SELECT json_group_object(
      name.value,
      CASE json_type(events, '$.values[' || (name.key + start) || ']')
        WHEN 'integer' THEN events ->> ('$.words[' || (events ->> ('$.values[' || (name.key + start) || ']')) || ']')
        ELSE events ->> ('$.values[' || (name.key + start) || ']') END
    )
    FROM json_each(events, '$.names[' || names || ']') name, (
      SELECT coalesce(sum(json_array_length(events, '$.names[' || CASE json_type(events, '$.named')
        WHEN 'array' THEN events ->> ('$.named[' || before.key || ']') ELSE events ->> '$.named' END || ']')), 0) AS start
      FROM json_each(events, '$.eventUUID') before WHERE before.key < nth
    )
  ) AS attributes
FROM told;
