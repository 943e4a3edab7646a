-- Words as in the design: account, token, user, contact, statement, claim, event. Numbers inside, UUIDs for clients.
-- Times are milliseconds since 1970; a day is a number of days since 1970, by received time, and never goes back.
--
-- So that a Citus cluster can spread it, each table lies on every machine, or where one of its columns says (decision
-- 0013); that one is the first column, and part of every unique key. Without Citus these are ordinary tables.

-- The one order of events and statements: numbers that only grow. Cached nowhere, so that what is drawn later is greater.
CREATE SEQUENCE event_order MINVALUE 0 START 0 CACHE 1;
SELECT nextval('event_order');
CREATE SEQUENCE user_number;
CREATE SEQUENCE contact_number;
CREATE SEQUENCE claim_number;
CREATE SEQUENCE erasure_number;
CREATE SEQUENCE refused_number CACHE 1;

-- On every machine.

CREATE TABLE position (
  id integer PRIMARY KEY CHECK (id = 1),
  day integer NOT NULL,        -- the last day on which an event was kept; -1 before the first
  "clockDay" integer NOT NULL, -- the day that the clock showed last
  secret bytea NOT NULL        -- the key of the hashes that stand for eventUUIDs and erased identifiers
);
INSERT INTO position VALUES (1, -1, -1, sha256(convert_to(gen_random_uuid() || '' || gen_random_uuid(), 'UTF8')));

-- The days on which anything was kept, as far back as repeats are known.
CREATE TABLE kept_day (
  day integer PRIMARY KEY
);

CREATE TABLE account (
  account integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  "accountUUID" text NOT NULL UNIQUE,
  "accountName" text NOT NULL,
  "accountOrigin" jsonb NOT NULL,
  "accountTimezone" text NOT NULL,
  strict boolean NOT NULL,
  catalogues bigint NOT NULL DEFAULT 0, -- grows with every change to what it lists, and to `strict`
  "createdTime" bigint NOT NULL
);

CREATE TABLE token (
  token integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  "tokenID" text NOT NULL UNIQUE,
  account integer REFERENCES account, -- NULL: an operator's
  kind text NOT NULL CHECK (kind IN ('browser', 'server', 'operator')),
  "tokenName" text NOT NULL,
  hash text NOT NULL UNIQUE, -- SHA-256 of the token's text, hex
  text text CHECK (text IS NULL OR kind = 'browser'),
  "createdTime" bigint NOT NULL,
  "revokedTime" bigint,
  CHECK ((account IS NULL) = (kind = 'operator'))
);
CREATE INDEX token_by_account ON token (account);

CREATE TABLE catalogue (
  account integer NOT NULL REFERENCES account,
  kind text NOT NULL CHECK (kind IN ('profile', 'tag', 'attr', 'event')),
  id text COLLATE "C" NOT NULL,
  nth bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  browser boolean NOT NULL,     -- may a browser token use it
  "byBrowser" boolean NOT NULL, -- listed on a browser token's word only: makes room when the account names others
  type text NOT NULL,           -- of attributes
  PRIMARY KEY (account, kind, id)
);

CREATE TABLE erasure (
  erasure bigint PRIMARY KEY,
  account integer NOT NULL REFERENCES account,
  "erasedTime" bigint NOT NULL,
  "deletedEvents" bigint NOT NULL,
  complete boolean NOT NULL
);
CREATE INDEX erasure_open ON erasure (erasure) WHERE NOT complete;

-- By name: from what a client knows to the number inside.

CREATE TABLE user_name (
  "userUUID" text COLLATE "C" NOT NULL,
  account integer NOT NULL,
  "user" bigint NOT NULL,
  PRIMARY KEY ("userUUID", account)
);

CREATE TABLE contact_name (
  "contactUUID" text COLLATE "C" PRIMARY KEY,
  account integer NOT NULL,
  contact bigint NOT NULL
);

CREATE TABLE contact_address (
  "contactEmailaddress" text COLLATE "C" NOT NULL,
  account integer NOT NULL,
  contact bigint NOT NULL,
  "contactUUID" text NOT NULL,
  PRIMARY KEY ("contactEmailaddress", account)
);

CREATE TABLE claim_name (
  "claimID" text COLLATE "C" PRIMARY KEY, -- the handle that the browser was given
  claim bigint NOT NULL,
  contact bigint NOT NULL
);

CREATE TABLE statement_place (
  sequence bigint PRIMARY KEY,
  "user" bigint NOT NULL
);

CREATE TABLE erased_identifier (
  hash bytea PRIMARY KEY,
  erasure bigint NOT NULL
);

-- By user.

-- Its row is locked while something is stated of it.
CREATE TABLE "user" (
  "user" bigint PRIMARY KEY,
  account integer NOT NULL,
  "userUUID" text NOT NULL,
  "firstDay" integer, -- the days of its first and last event
  "lastDay" integer,
  "createdTime" bigint NOT NULL
);

-- From `sequence` on, the user is the contact; with none, nobody known.
CREATE TABLE statement (
  "user" bigint NOT NULL,
  sequence bigint NOT NULL,
  account integer NOT NULL,
  contact bigint,
  verified boolean NOT NULL, -- by more than the claim that made it
  voided smallint NOT NULL,  -- by voidLink: 1 by itself, 2 with its token's; a voided claim voids what it made as well
  claim bigint,
  token integer NOT NULL,
  erased boolean NOT NULL,   -- named a contact that was erased: an unlink for good
  time bigint NOT NULL,
  PRIMARY KEY ("user", sequence)
);
CREATE INDEX statement_by_token ON statement (token, time);

-- With which contacts events of the user were logged: those lie where their contacts do.
CREATE TABLE user_contact (
  "user" bigint NOT NULL,
  contact bigint NOT NULL,
  PRIMARY KEY ("user", contact)
);

-- `key` is a keyed hash of the requestUUID and its token.
CREATE TABLE request_repeat (
  "user" bigint NOT NULL,
  key uuid NOT NULL,
  day integer NOT NULL,
  contact bigint NOT NULL,
  claim bigint,
  existed boolean NOT NULL,
  PRIMARY KEY ("user", key)
);
CREATE INDEX request_repeat_by_day ON request_repeat (day);

-- What of an erasure is still to be deleted. Reads leave it out from the first moment.
CREATE TABLE erased_stretch (
  "user" bigint NOT NULL,
  erasure bigint NOT NULL,
  after bigint NOT NULL,   -- after < sequence <= through
  through bigint NOT NULL,
  PRIMARY KEY ("user", after, erasure)
);

-- By contact.

CREATE TABLE contact (
  contact bigint PRIMARY KEY,
  account integer NOT NULL,
  "contactUUID" text NOT NULL,
  "contactEmailaddress" text NOT NULL,
  said jsonb NOT NULL, -- {fields, tags: [[tagID, opt], …], attributes: [[attrID, attrValue], …]}; cleared on purpose: '', false, null
  "contactStatus" text NOT NULL,
  verified boolean NOT NULL, -- false while only claims know it
  "mergedInto" bigint,
  "mergedTime" bigint,
  "firstDay" integer, -- the days of the first and last event logged with its contactUUID
  "lastDay" integer,
  "createdTime" bigint NOT NULL,
  "updatedTime" bigint NOT NULL
);
CREATE INDEX contact_by_account ON contact (account, contact);

CREATE TABLE merged_contact (
  contact bigint NOT NULL,
  other bigint NOT NULL, -- merged into it
  PRIMARY KEY (contact, other)
);

-- Which users were ever linked to it.
CREATE TABLE contact_user (
  contact bigint NOT NULL,
  "user" bigint NOT NULL,
  PRIMARY KEY (contact, "user")
);

CREATE TABLE claim (
  contact bigint NOT NULL,
  claim bigint NOT NULL,
  "claimID" text NOT NULL,
  account integer NOT NULL,
  token integer NOT NULL,
  "user" bigint NOT NULL,
  said jsonb NOT NULL, -- {fields, tags, attributes}
  accepted boolean NOT NULL,
  voided boolean NOT NULL,
  "createdTime" bigint NOT NULL,
  "updatedTime" bigint NOT NULL,
  PRIMARY KEY (contact, claim)
);
CREATE INDEX claim_by_user ON claim (contact, "user");
CREATE INDEX claim_in_order ON claim (contact, voided, accepted DESC, claim);

CREATE TABLE erased_contact (
  contact bigint PRIMARY KEY,
  erasure bigint NOT NULL
);

-- By token.

-- Writes that were refused for their content, without their token: to be read, and sent again after a fix.
CREATE TABLE refused_request (
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
  PRIMARY KEY (token, refused)
);
CREATE INDEX refused_request_in_order ON refused_request (refused);
CREATE INDEX refused_request_by_time ON refused_request ("refusedTime");

-- Of a token's refusals, each is in one of these: on the list, or gone from it for one of three reasons.
CREATE TABLE refused_count (
  token integer PRIMARY KEY,
  listed bigint NOT NULL,
  "listedBytes" bigint NOT NULL,
  evicted bigint NOT NULL,
  erased bigint NOT NULL,
  replayed bigint NOT NULL
);

-- By account. `slot` is that of the connection that counts, so that none waits for another; what was deleted is in slot 0.

-- How many events of a kind happened in a quarter of an hour of eventTime.
CREATE TABLE event_total (
  account integer NOT NULL,
  "eventID" integer NOT NULL,
  quarter bigint NOT NULL,
  slot integer NOT NULL,
  count bigint NOT NULL,
  "firstTime" bigint, -- outside of the quarter once some of it was deleted
  "lastTime" bigint,
  PRIMARY KEY (account, "eventID", quarter, slot)
);

-- Where a day of an account's events lies in the order, and between which eventTimes, so that a read skips the other days.
CREATE TABLE account_day (
  account integer NOT NULL,
  day integer NOT NULL,
  slot integer NOT NULL,
  count bigint NOT NULL,
  "firstSequence" bigint,
  "lastSequence" bigint,
  "firstTime" bigint,
  "lastTime" bigint,
  PRIMARY KEY (account, day, slot)
);

-- By holder: the contact that an event was logged with, as minus its number; else its user. A partition for each month.

-- Written once, never changed.
CREATE TABLE event (
  holder bigint NOT NULL,
  sequence bigint NOT NULL,
  "user" bigint, -- of an event that was logged with a contact as well
  "eventTime" bigint NOT NULL,
  "receivedTime" bigint NOT NULL,
  account integer NOT NULL,
  day integer NOT NULL,
  "eventID" integer NOT NULL,
  "timeReplaced" boolean NOT NULL,
  "eventUUID" text NOT NULL,
  attributes text NOT NULL -- JSON: [attrID, attrValue, …], in their order
) PARTITION BY RANGE (day);
CREATE INDEX event_by_holder ON event (holder, sequence);
CREATE INDEX event_by_account ON event (account, sequence);

-- Who sent which eventUUID on which day, a partition for each: `holder` is the user, or minus the contact when there is
-- no user; `key` a keyed hash.
CREATE TABLE event_repeat (
  holder bigint NOT NULL,
  key uuid NOT NULL,
  day integer NOT NULL,
  PRIMARY KEY (holder, key, day)
) PARTITION BY LIST (day);
