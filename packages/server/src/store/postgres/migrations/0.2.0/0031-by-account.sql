-- Every row of an account has its number, first in every unique key: so that a Citus cluster keeps all rows of one account on one
-- machine (decision 13), and every statement reads and writes those of one account. The number 0 is that of the service itself.

-- What each write of an account reads or holds. An entry of catalogues is added while the row is locked.
CREATE TABLE account_position (
  account integer PRIMARY KEY,
  day integer NOT NULL DEFAULT -1,                -- the last day on which an event was stored; -1 before the first
  "clockDay" integer NOT NULL DEFAULT -1,         -- the day that the clock showed last
  strict boolean NOT NULL DEFAULT false,
  "browserCatalogue" boolean NOT NULL DEFAULT false,
  catalogues bigint NOT NULL DEFAULT 0,           -- grows with every change to what the account lists, and to these two
  "nextEventID" integer NOT NULL DEFAULT 1000000  -- that the next new event name gets, unless it is listed. It only grows
);
INSERT INTO account_position VALUES (0);
INSERT INTO account_position (account, day, "clockDay", strict, "browserCatalogue", catalogues, "nextEventID")
SELECT account, day, "clockDay", strict, "browserCatalogue", catalogues, "nextEventID" FROM account, position;
ALTER TABLE account DROP COLUMN strict, DROP COLUMN "browserCatalogue", DROP COLUMN catalogues, DROP COLUMN "nextEventID";
ALTER TABLE position DROP COLUMN day, DROP COLUMN "clockDay";

-- The transactions under way that write rows of an account, and their floors (sequencer.ts). The number 0: of any account.
CREATE FUNCTION held_floors(ours integer) RETURNS TABLE (writer text, floor bigint) LANGUAGE plpgsql AS $$
  BEGIN
    RETURN QUERY SELECT * FROM (
      SELECT virtualtransaction, max(((classid::bigint << 32) | objid::bigint) - 4611686018427387904)
        FILTER (WHERE classid::bigint >= 1073741824 AND classid::bigint < 2147483648) AS floor
      FROM pg_locks
      WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND objsubid = 1 AND granted
      GROUP BY virtualtransaction
      HAVING ours = 0 OR bool_or(classid::bigint = 872415232 AND objid::bigint = ours)
    ) AS held WHERE held.floor IS NOT NULL;
  END $$;

-- Whether no other session writes rows of the account now. It tries to take the lock that writers share, and releases it at once: reading all locks takes a
-- hundred times as long. Both calls are in one expression, so a statement that is cancelled does not keep the lock. False also while another session does the same.
CREATE FUNCTION has_no_writer(ours integer) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    RETURN pg_try_advisory_lock(3746994889972252672 + ours) AND pg_advisory_unlock(3746994889972252672 + ours);
  END $$;

-- The lowest floor that a writer of the account holds; null: none holds one.
CREATE FUNCTION held_floor(ours integer) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN
    IF has_no_writer(ours) THEN
      RETURN NULL;
    END IF;
    RETURN (SELECT min(floor) FROM held_floors(ours));
  END $$;

-- The tables that have the account already.

ALTER TABLE catalogue DROP CONSTRAINT catalogue_account_fkey;
ALTER TABLE account_deletion DROP CONSTRAINT account_deletion_account_fkey;
ALTER TABLE erasure DROP CONSTRAINT erasure_account_fkey, DROP CONSTRAINT erasure_pkey, ADD PRIMARY KEY (account, erasure);
DROP INDEX erasure_open;
CREATE INDEX erasure_open ON erasure (account) WHERE NOT complete;

ALTER TABLE user_name DROP CONSTRAINT user_name_pkey, ADD PRIMARY KEY (account, "userUUID");
ALTER TABLE contact_name DROP CONSTRAINT contact_name_pkey, ADD PRIMARY KEY (account, "contactUUID");
ALTER TABLE contact_address DROP CONSTRAINT contact_address_pkey, ADD PRIMARY KEY (account, "contactEmailaddress");
ALTER TABLE contact_external_id DROP CONSTRAINT contact_external_id_pkey, ADD PRIMARY KEY (account, "contactExternalID");

ALTER TABLE "user" DROP CONSTRAINT user_pkey, ADD PRIMARY KEY (account, "user");

ALTER TABLE statement DROP CONSTRAINT statement_pkey, ADD PRIMARY KEY (account, "user", sequence);
DROP INDEX statement_by_token, statement_by_contact;
CREATE INDEX statement_by_token ON statement (account, token, time);
CREATE INDEX statement_by_contact ON statement (account, contact, sequence) WHERE contact IS NOT NULL;

DROP INDEX contact_by_account;
ALTER TABLE contact DROP CONSTRAINT contact_pkey, ADD PRIMARY KEY (account, contact);
ALTER TABLE contact_found DROP CONSTRAINT contact_found_pkey, ADD PRIMARY KEY (account, contact);

DROP INDEX claim_by_account, claim_by_user, claim_in_order, claim_of_key;
ALTER TABLE claim DROP CONSTRAINT claim_pkey, ADD PRIMARY KEY (account, contact, claim);
CREATE INDEX claim_by_user ON claim (account, contact, "user");
CREATE INDEX claim_of_key ON claim (account, contact, coalesce(
  'contactEmailaddress ' || (said -> 'fields' ->> 'contactEmailaddress'),
  'contactExternalID ' || (said -> 'fields' ->> 'contactExternalID')), claim) WHERE NOT accepted;

-- The audit log: entries of the service have the account 0.
DROP TRIGGER audit_unchanged ON audit;
DROP TRIGGER audit_kept ON audit;
DROP INDEX audit_by_account;
ALTER TABLE audit DROP CONSTRAINT audit_account_fkey, DROP CONSTRAINT audit_token_fkey, DROP CONSTRAINT audit_pkey;
UPDATE audit SET account = 0 WHERE account IS NULL;
ALTER TABLE audit ADD PRIMARY KEY (account, audit), ALTER COLUMN account SET DEFAULT 0;
-- `migrate --citus` deletes the rows of spread tables that Citus leaves on the coordinator, because no erasure finds them.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('firsthand.emptying', true) = 'on' THEN
      RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
  END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_kept BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_deletion();

-- The other tables are written anew, which takes less than changing each row in place.

ALTER TABLE claim_name RENAME TO before;
CREATE TABLE claim_name (
  account integer NOT NULL,
  "claimID" text COLLATE "C" NOT NULL, -- the handle that the browser was given
  claim bigint NOT NULL,
  contact bigint NOT NULL
);
INSERT INTO claim_name SELECT c.account, n."claimID", n.claim, n.contact
FROM before n JOIN claim c ON c.contact = n.contact AND c.claim = n.claim;
DROP TABLE before;
ALTER TABLE claim_name ADD PRIMARY KEY (account, "claimID");

ALTER TABLE statement_place RENAME TO before;
CREATE TABLE statement_place (
  account integer NOT NULL,
  sequence bigint NOT NULL,
  "user" bigint NOT NULL
);
INSERT INTO statement_place SELECT u.account, p.sequence, p."user" FROM before p JOIN "user" u ON u."user" = p."user";
DROP TABLE before;
ALTER TABLE statement_place ADD PRIMARY KEY (account, sequence);

ALTER TABLE erased_identifier RENAME TO before;
CREATE TABLE erased_identifier (
  account integer NOT NULL,
  hash bytea NOT NULL,
  erasure bigint NOT NULL
);
INSERT INTO erased_identifier SELECT e.account, i.hash, i.erasure FROM before i JOIN erasure e ON e.erasure = i.erasure;
DROP TABLE before;
ALTER TABLE erased_identifier ADD PRIMARY KEY (account, hash);

-- With which contacts events of the user were logged.
ALTER TABLE user_contact RENAME TO before;
CREATE TABLE user_contact (
  account integer NOT NULL,
  "user" bigint NOT NULL,
  contact bigint NOT NULL
);
INSERT INTO user_contact SELECT u.account, c."user", c.contact FROM before c JOIN "user" u ON u."user" = c."user";
DROP TABLE before;
ALTER TABLE user_contact ADD PRIMARY KEY (account, "user", contact);

-- `key` is a keyed hash of the requestUUID and its token.
ALTER TABLE request_repeat RENAME TO before;
CREATE TABLE request_repeat (
  account integer NOT NULL,
  "user" bigint NOT NULL,
  key uuid NOT NULL,
  day integer NOT NULL,
  contact bigint NOT NULL,
  claim bigint,
  existed boolean NOT NULL
);
INSERT INTO request_repeat SELECT u.account, r."user", r.key, r.day, r.contact, r.claim, r.existed
FROM before r JOIN "user" u ON u."user" = r."user";
DROP TABLE before;
ALTER TABLE request_repeat ADD PRIMARY KEY (account, "user", key);
CREATE INDEX request_repeat_by_day ON request_repeat (day);
CREATE INDEX request_repeat_by_contact ON request_repeat (account, contact);

-- What of an erasure is still to be deleted. Reads leave it out from the first moment.
ALTER TABLE erased_stretch RENAME TO before;
CREATE TABLE erased_stretch (
  account integer NOT NULL,
  "user" bigint NOT NULL,
  erasure bigint NOT NULL,
  after bigint NOT NULL, -- after < sequence <= through
  through bigint NOT NULL
);
INSERT INTO erased_stretch SELECT e.account, s."user", s.erasure, s.after, s.through
FROM before s JOIN erasure e ON e.erasure = s.erasure;
DROP TABLE before;
ALTER TABLE erased_stretch ADD PRIMARY KEY (account, "user", after, erasure);

ALTER TABLE erased_contact RENAME TO before;
CREATE TABLE erased_contact (
  account integer NOT NULL,
  contact bigint NOT NULL,
  erasure bigint NOT NULL
);
INSERT INTO erased_contact SELECT e.account, c.contact, c.erasure FROM before c JOIN erasure e ON e.erasure = c.erasure;
DROP TABLE before;
ALTER TABLE erased_contact ADD PRIMARY KEY (account, contact);

ALTER TABLE merged_contact RENAME TO before;
CREATE TABLE merged_contact (
  account integer NOT NULL,
  contact bigint NOT NULL,
  other bigint NOT NULL -- merged into it
);
INSERT INTO merged_contact SELECT c.account, m.contact, m.other FROM before m JOIN contact c ON c.contact = m.contact;
DROP TABLE before;
ALTER TABLE merged_contact ADD PRIMARY KEY (account, contact, other);

-- Which users were ever linked to it.
ALTER TABLE contact_user RENAME TO before;
CREATE TABLE contact_user (
  account integer NOT NULL,
  contact bigint NOT NULL,
  "user" bigint NOT NULL
);
INSERT INTO contact_user SELECT u.account, c.contact, c."user" FROM before c JOIN "user" u ON u."user" = c."user";
DROP TABLE before;
ALTER TABLE contact_user ADD PRIMARY KEY (account, contact, "user");

-- Each change has a row of its own, so that no transaction waits for another.
ALTER TABLE contact_changed RENAME TO before;
CREATE SEQUENCE contact_change_number;
CREATE TABLE contact_changed (
  account integer NOT NULL,
  contact bigint NOT NULL,
  -- A sequence (event_order) where a statement lists contacts (users.ts); below 0 where a trigger does.
  change bigint NOT NULL DEFAULT -nextval('contact_change_number')
);
-- Those of contacts that are not there any more are of the account that the index has them of.
INSERT INTO contact_changed (account, contact)
SELECT DISTINCT coalesce(c.account, f.account), b.contact
FROM before b LEFT JOIN contact c ON c.contact = b.contact LEFT JOIN contact_found f ON f.contact = b.contact
WHERE coalesce(c.account, f.account) IS NOT NULL;
DROP TABLE before;
ALTER TABLE contact_changed ADD PRIMARY KEY (account, contact, change);

-- Writes that were refused for their content, without their token: to be read, and sent again after a fix.
ALTER TABLE refused_request RENAME TO before;
CREATE TABLE refused_request (
  account integer NOT NULL,
  token integer NOT NULL,
  refused bigint NOT NULL,
  operation text NOT NULL CHECK (operation IN ('logEvent', 'logEvents', 'createContact', 'updateContact')),
  code text NOT NULL,
  field text NOT NULL, -- '' when no field is at fault
  message text NOT NULL,
  "refusedTime" bigint NOT NULL,
  bytes integer NOT NULL,
  address text,        -- the canonical e-mail address that it names
  input text NOT NULL, -- JSON: an object of fields, or the text that could not be read as one
  sender integer NOT NULL DEFAULT 0, -- told apart for a day and only roughly (decision 5): who has most gives way first
  robot boolean NOT NULL DEFAULT false
);
INSERT INTO refused_request SELECT t.account, r.* FROM before r JOIN token t ON t.token = r.token WHERE t.account IS NOT NULL;
DROP TABLE before;
ALTER TABLE refused_request ADD PRIMARY KEY (account, token, refused);
CREATE INDEX refused_request_in_order ON refused_request (account, refused);
CREATE INDEX refused_request_by_time ON refused_request (account, "refusedTime");

-- Of a token's refusals, each is in one of these: on the list, or gone from it for one of three reasons.
ALTER TABLE refused_count RENAME TO before;
CREATE TABLE refused_count (
  account integer NOT NULL,
  token integer NOT NULL,
  listed bigint NOT NULL,
  "listedBytes" bigint NOT NULL,
  evicted bigint NOT NULL,
  erased bigint NOT NULL,
  replayed bigint NOT NULL
);
INSERT INTO refused_count SELECT t.account, c.* FROM before c JOIN token t ON t.token = c.token WHERE t.account IS NOT NULL;
DROP TABLE before;
ALTER TABLE refused_count ADD PRIMARY KEY (account, token);

DROP INDEX owner_change_in_order;
-- Those of deleted accounts.
DELETE FROM owner_change WHERE account = 0;
-- Triggers number the changes of owners. On a Citus cluster they run on the machine that has the account's rows, which draws from a part of
-- the sequence of its own: after a move to another machine, later changes could have lower numbers, and nobody who has read the earlier ones
-- would read them. There, `change` is a number that begin_writing draws for the transaction, on the coordinator; `part` tells the changes of
-- one transaction apart.
CREATE FUNCTION owner_change_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(nullif(current_setting('firsthand.change', true), '')::bigint, nextval('owner_change_number'))
$$;
ALTER TABLE owner_change ADD COLUMN part bigint NOT NULL DEFAULT 0;
ALTER TABLE owner_change ALTER COLUMN part SET DEFAULT nextval('owner_change_number');
ALTER TABLE owner_change ALTER COLUMN change SET DEFAULT owner_change_now();
ALTER TABLE owner_change DROP CONSTRAINT owner_change_pkey, ADD PRIMARY KEY (account, change, part);

-- Who sent which eventUUID on which day, a partition for each: `holder` is the user, or minus the contact when there is
-- no user; `key` a keyed hash. The keys of partitions are the holder and the key, which need no account; Citus wants it in them
-- (citus.ts).
ALTER TABLE event_repeat RENAME TO before;
CREATE TABLE event_repeat (
  account integer NOT NULL,
  day integer NOT NULL,
  holder bigint NOT NULL,
  key uuid NOT NULL
) PARTITION BY LIST (day);
-- Keys that were copied without their holders, and so without an account.
CREATE TABLE erased_repeat (
  key uuid NOT NULL,
  day integer NOT NULL,
  PRIMARY KEY (key, day)
);
INSERT INTO erased_repeat SELECT DISTINCT key, day FROM before WHERE holder = 0;
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT relname AS name, pg_get_expr(relpartbound, c.oid) AS bounds
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'before'::regclass ORDER BY relname
  LOOP
    EXECUTE format('ALTER TABLE before DETACH PARTITION %I', one.name);
    EXECUTE format('ALTER TABLE %I RENAME TO day_before', one.name);
    EXECUTE format('CREATE TABLE %I PARTITION OF event_repeat %s', one.name, one.bounds);
    -- A repeat of an erased contact's event is refused, without its key.
    EXECUTE format($copy$
      INSERT INTO %I (account, day, holder, key)
      SELECT coalesce(u.account, c.account), r.day, r.holder, r.key FROM day_before r
      LEFT JOIN "user" u ON u."user" = r.holder LEFT JOIN contact c ON c.contact = -r.holder
      WHERE coalesce(u.account, c.account) IS NOT NULL ORDER BY 3, 4 $copy$, one.name);
    DROP TABLE day_before;
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (holder, key)', one.name);
  END LOOP;
END $$;
DROP TABLE before;

-- What triggers list is the account's.

CREATE OR REPLACE FUNCTION note_contact() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO contact_changed (account, contact)
    VALUES (coalesce(NEW.account, OLD.account), coalesce(NEW.contact, OLD.contact));
    RETURN NULL;
  END $$;
CREATE OR REPLACE FUNCTION note_merge() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW."mergedInto" IS NOT NULL THEN
      INSERT INTO contact_changed (account, contact) VALUES (NEW.account, NEW."mergedInto");
    END IF;
    IF OLD."mergedInto" IS NOT NULL THEN
      INSERT INTO contact_changed (account, contact) VALUES (NEW.account, OLD."mergedInto");
    END IF;
    RETURN NULL;
  END $$;
CREATE OR REPLACE FUNCTION note_contacts_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    ours integer := coalesce(NEW.account, OLD.account);
    whose bigint := coalesce(NEW."user", OLD."user");
    linked bigint;
    wasListed boolean := OLD.contact IS NULL;
  BEGIN
    FOR linked IN
      SELECT DISTINCT contact FROM statement WHERE account = ours AND "user" = whose AND contact IS NOT NULL
    LOOP
      wasListed := wasListed OR linked = OLD.contact;
      INSERT INTO contact_changed (account, contact) VALUES (ours, linked);
    END LOOP;
    IF NOT wasListed THEN
      INSERT INTO contact_changed (account, contact) VALUES (ours, OLD.contact);
    END IF;
    RETURN NULL;
  END $$;
-- Its statement is that of the transaction (users.ts), which Citus runs where the users' rows are.
DROP TRIGGER user_seen ON "user";
DROP FUNCTION note_seen_users;

CREATE OR REPLACE FUNCTION note_erased_stretch() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what, "user", after, through)
    VALUES (NEW.account, 'stretch erased', NEW."user", NEW.after, NEW.through);
    RETURN NULL;
  END $$;
CREATE OR REPLACE FUNCTION note_erased_contact() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what, contact) VALUES (NEW.account, 'contact erased', NEW.contact);
    RETURN NULL;
  END $$;
CREATE TRIGGER erasure_noted AFTER INSERT ON erased_stretch FOR EACH ROW EXECUTE FUNCTION note_erased_stretch();
CREATE TRIGGER erasure_noted AFTER INSERT ON erased_contact FOR EACH ROW EXECUTE FUNCTION note_erased_contact();

ANALYZE account_position, claim_name, statement_place, erased_identifier, user_contact, request_repeat, merged_contact, contact_user,
  contact_changed, refused_request, refused_count, event_repeat, erased_repeat;
