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

-- Block by block, so that it takes no more memory for many events than for few.
WITH
ends AS (
  SELECT sequence FROM (SELECT sequence, row_number() OVER (ORDER BY sequence) AS nth FROM event)
  WHERE nth % 64 = 0 OR sequence = (SELECT max(sequence) FROM event)
),
bounds AS (SELECT coalesce(lag(sequence) OVER (ORDER BY sequence), -1) AS after, sequence AS through FROM ends)
INSERT INTO event_block
SELECT through, (SELECT count(*) FROM event WHERE sequence > after AND sequence <= through), (
  SELECT json_object(
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
  FROM (
    SELECT *, first_value(sequence) OVER events AS firstSequence, first_value(receivedTime) OVER events AS firstReceived,
      row_number() OVER events - 1 AS nth,
      (SELECT json_group_array(key ORDER BY id) FROM json_each(attributes)) AS names,
      (SELECT group_concat(json_quote(value), ',' ORDER BY id) FROM json_each(attributes)) AS said
    FROM event WHERE sequence > after AND sequence <= through WINDOW events AS (ORDER BY sequence)
  )
)
FROM bounds;

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
WITH
numbered AS (
  SELECT b.through, b.events, e.key AS nth, e.value AS eventUUID,
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
  receivedTime - coalesce(events ->> ('$.age[' || nth || ']'), events ->> '$.age') AS eventTime,
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
