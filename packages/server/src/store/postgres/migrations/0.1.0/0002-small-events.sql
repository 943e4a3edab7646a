-- An event takes two thirds of what it took: what is only told of it is bytes (event-body.ts), indexes have equal keys
-- (event-order.ts), and the key of a repeat leaves out the day, which all in a partition have. Each month is written anew, and
-- what it was goes at the end: meanwhile there has to be room for both.

-- What follows rewrites tables of this machine.
DO $$
DECLARE
  spread boolean := false;
BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    EXECUTE $look$ SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'event'::regclass) $look$ INTO spread;
  END IF;
  IF spread THEN
    RAISE EXCEPTION 'Citus has spread this database, which an earlier Firsthand made: migrate --citus an empty one, and copy';
  END IF;
END $$;

ALTER TABLE event RENAME TO event_before;
DROP INDEX event_by_holder, event_by_account;

-- By holder: the contact that an event was logged with, as minus its number; else its user. A partition for each month.

-- Written once, never changed. With more than eight columns the head of a row would take 8 bytes more.
CREATE TABLE event (
  holder bigint NOT NULL,
  sequence bigint NOT NULL,
  "user" bigint, -- of an event that was logged with a contact as well
  "eventTime" bigint NOT NULL,
  account integer NOT NULL,
  day integer NOT NULL,
  "eventID" integer NOT NULL,
  body bytea NOT NULL -- timeReplaced, receivedTime, eventUUID, attributes: see event-body.ts
) PARTITION BY RANGE (day);
CREATE INDEX event_by_holder ON event (holder, (sequence >> 12));
CREATE INDEX event_by_account ON event (account, (sequence >> 8));

-- For this migration only. Not in pg_temp: not every role may make temporary objects.
CREATE FUNCTION number_body(number bigint) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  bytes bytea := '';
  rest bigint := number;
BEGIN
  WHILE rest >= 128 LOOP
    bytes := bytes || set_byte('\x00', 0, (rest & 127)::integer + 128);
    rest := rest >> 7;
  END LOOP;
  RETURN bytes || set_byte('\x00', 0, rest::integer);
END $$;

CREATE FUNCTION uuid_body(uuid text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT set_byte('\x00', 0, length(uuid))
    || substr(decode(rpad(translate(uuid, '-_', '+/'), (length(uuid) + 3) / 4 * 4, 'A'), 'base64'), 1, (6 * length(uuid) + 7) / 8)
$$;

-- As JSON, not as jsonb: that would sort nothing here, and take longer.
CREATE FUNCTION attributes_body(attributes text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(string_agg(number_body(length(bytes)) || bytes, ''::bytea ORDER BY nth), '')
  FROM json_array_elements_text(attributes::json) WITH ORDINALITY AS one (value, nth), convert_to(value, 'UTF8') AS bytes
$$;

DO $$
DECLARE
  month record;
BEGIN
  FOR month IN
    SELECT relname AS name, pg_get_expr(relpartbound, c.oid) AS bounds
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'event_before'::regclass ORDER BY relname
  LOOP
    EXECUTE format('ALTER TABLE event_before DETACH PARTITION %I', month.name);
    EXECUTE format('ALTER TABLE %I RENAME TO event_month_before', month.name);
    EXECUTE format('CREATE TABLE %I (LIKE event INCLUDING STORAGE)', month.name);
    EXECUTE format($copy$
      INSERT INTO %I (holder, sequence, "user", "eventTime", account, day, "eventID", body)
      SELECT holder, sequence, "user", "eventTime", account, day, "eventID",
        set_byte('\x00', 0, "timeReplaced"::integer + CASE WHEN "eventTime" > "receivedTime" THEN 2 ELSE 0 END)
          || number_body(abs("receivedTime" - "eventTime")) || uuid_body("eventUUID")
          || attributes_body(attributes)
      FROM event_month_before $copy$, month.name);
    DROP TABLE event_month_before;
    EXECUTE format('ALTER TABLE event ATTACH PARTITION %I %s', month.name, month.bounds);
  END LOOP;
END $$;

DROP TABLE event_before;
ANALYZE event;
DROP FUNCTION number_body, uuid_body, attributes_body;

-- Who sent which eventUUID on which day, a partition for each: in it, a holder and a key are there once.
ALTER TABLE event_repeat DROP CONSTRAINT event_repeat_pkey;
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'event_repeat'::regclass LOOP
    EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (holder, key)', partition);
  END LOOP;
END $$;

-- A server of before that was left running would go on beginning days: without a key of their repeats, which it has from
-- event_repeat, and which that has no longer. All servers would keep on such a day whatever is sent, however often. What it
-- says of a day is not enough any more.
ALTER TABLE kept_day ADD COLUMN keyed boolean NOT NULL DEFAULT true CHECK (keyed); -- its repeats have a key of their own
ALTER TABLE kept_day ALTER COLUMN keyed DROP DEFAULT;

-- For whoever looks into the database: events as they are told, attributes as [[attrID, attrValue], …]. Nothing else reads it.
CREATE FUNCTION read_event_body(
  body bytea, "eventTime" bigint,
  OUT "receivedTime" bigint, OUT "timeReplaced" boolean, OUT "eventUUID" text, OUT attributes jsonb
) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  flags integer := get_byte(body, 0);
  at integer := 1;
  number bigint;
  byte integer;
  bits integer;
  texts text[] := '{}';
BEGIN
  WHILE at < length(body) LOOP
    number := 0;
    bits := 0;
    LOOP
      byte := get_byte(body, at);
      number := number | ((byte & 127)::bigint << bits);
      at := at + 1;
      bits := bits + 7;
      EXIT WHEN byte < 128;
    END LOOP;
    IF "receivedTime" IS NULL THEN
      "receivedTime" := "eventTime" + CASE WHEN flags & 2 = 0 THEN number ELSE -number END;
      number := get_byte(body, at);
      bits := (6 * number + 7) / 8;
      "eventUUID" := left(translate(encode(substr(body, at + 2, bits), 'base64'), E'+/\n', '-_'), number::integer);
      at := at + 1 + bits;
    ELSE
      texts := texts || convert_from(substr(body, at + 1, number::integer), 'UTF8');
      at := at + number::integer;
    END IF;
  END LOOP;
  "timeReplaced" := flags & 1 = 1;
  SELECT coalesce(jsonb_agg(jsonb_build_array(texts[2 * nth - 1], texts[2 * nth]) ORDER BY nth), '[]') INTO attributes
  FROM generate_series(1, cardinality(texts) / 2) AS nth;
END $$;

CREATE VIEW event_told AS
SELECT sequence, day, account, CASE WHEN holder > 0 THEN holder ELSE "user" END AS "user",
  CASE WHEN holder < 0 THEN -holder END AS contact, "eventID", told."eventUUID", "eventTime", told."receivedTime",
  told."timeReplaced", told.attributes
FROM event CROSS JOIN LATERAL read_event_body(body, "eventTime") AS told;
