-- Words as in the design: account, token, user, contact, statement, claim, event. Numbers inside, UUIDs for clients.
-- Times are milliseconds since 1970; a day is a number of days since 1970, by received time, and never goes back.

CREATE TABLE position (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL, -- the last one given to an event or a statement
  day INTEGER NOT NULL,      -- the last day on which an event was kept
  access INTEGER NOT NULL,   -- grows with every change to tokens and to what they may act for
  secret BLOB NOT NULL       -- the key of the hashes that erased identifiers leave behind
) STRICT;
INSERT INTO position VALUES (1, 0, 0, 0, randomblob(32));

CREATE TABLE account (
  account INTEGER PRIMARY KEY,
  accountUUID TEXT NOT NULL UNIQUE,
  accountName TEXT NOT NULL,
  accountOrigin TEXT NOT NULL, -- JSON array
  accountTimezone TEXT NOT NULL,
  strict INTEGER NOT NULL,
  createdTime INTEGER NOT NULL
) STRICT;

CREATE TABLE token (
  token INTEGER PRIMARY KEY,
  tokenID TEXT NOT NULL UNIQUE,
  account INTEGER REFERENCES account, -- NULL: an operator's
  kind TEXT NOT NULL CHECK (kind IN ('browser', 'server', 'operator')),
  tokenName TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the token's text, hex
  text TEXT CHECK (text IS NULL OR kind = 'browser'),
  createdTime INTEGER NOT NULL,
  revokedTime INTEGER,
  CHECK ((account IS NULL) = (kind = 'operator'))
) STRICT;
CREATE INDEX token_by_account ON token (account);

CREATE TRIGGER token_added AFTER INSERT ON token BEGIN UPDATE position SET access = access + 1; END;
CREATE TRIGGER token_changed AFTER UPDATE ON token BEGIN UPDATE position SET access = access + 1; END;
CREATE TRIGGER account_changed AFTER UPDATE ON account BEGIN UPDATE position SET access = access + 1; END;

CREATE TABLE catalogue (
  account INTEGER NOT NULL REFERENCES account,
  kind TEXT NOT NULL CHECK (kind IN ('profile', 'tag', 'attr', 'event')),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  browser INTEGER NOT NULL,   -- may a browser token use it
  byBrowser INTEGER NOT NULL, -- listed on a browser token's word only: makes room when the account names others
  type TEXT NOT NULL,         -- of attributes
  PRIMARY KEY (account, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE user (
  user INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  userUUID TEXT NOT NULL,
  firstDay INTEGER, -- the days of its first and last event
  lastDay INTEGER,
  createdTime INTEGER NOT NULL,
  UNIQUE (account, userUUID)
) STRICT;

-- A field that is NULL was never said; '' was cleared on purpose.
CREATE TABLE contact (
  contact INTEGER PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL REFERENCES account,
  contactUUID TEXT NOT NULL UNIQUE,
  contactEmailaddress TEXT NOT NULL,
  contactTitle TEXT,
  contactFirstname TEXT,
  contactLastname TEXT,
  contactTelephone TEXT,
  contactMobile TEXT,
  contactJobRole TEXT,
  contactProfileID TEXT,
  contactStatus TEXT NOT NULL,
  verified INTEGER NOT NULL, -- 0 while only claims know it
  mergedInto INTEGER REFERENCES contact,
  mergedTime INTEGER,
  firstDay INTEGER, -- the days of the first and last event logged with its contactUUID
  lastDay INTEGER,
  createdTime INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL,
  UNIQUE (account, contactEmailaddress)
) STRICT;
CREATE INDEX contact_merged ON contact (mergedInto) WHERE mergedInto IS NOT NULL;

CREATE TABLE contact_tag (
  contact INTEGER NOT NULL REFERENCES contact,
  tagID TEXT NOT NULL,
  opt INTEGER NOT NULL, -- 0: taken away on purpose
  PRIMARY KEY (contact, tagID)
) STRICT, WITHOUT ROWID;

CREATE TABLE contact_attr (
  contact INTEGER NOT NULL REFERENCES contact,
  attrID TEXT NOT NULL,
  attrValue TEXT, -- NULL: removed on purpose
  PRIMARY KEY (contact, attrID)
) STRICT, WITHOUT ROWID;

CREATE TABLE claim (
  claim INTEGER PRIMARY KEY AUTOINCREMENT,
  claimID TEXT NOT NULL UNIQUE, -- the handle that the browser was given
  account INTEGER NOT NULL REFERENCES account,
  token INTEGER NOT NULL REFERENCES token,
  user INTEGER NOT NULL REFERENCES user,
  contact INTEGER NOT NULL REFERENCES contact,
  said TEXT NOT NULL, -- JSON: {fields, tags, attributes}
  accepted INTEGER NOT NULL,
  voided INTEGER NOT NULL,
  createdTime INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL
) STRICT;
CREATE INDEX claim_by_contact ON claim (contact, voided, accepted DESC);
CREATE INDEX claim_by_user ON claim (user, contact);

-- From `sequence` on, the user is the contact; with none, nobody known.
CREATE TABLE statement (
  sequence INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES user,
  contact INTEGER REFERENCES contact,
  verified INTEGER NOT NULL, -- by more than the claim that made it
  voided INTEGER NOT NULL,   -- by voidLink: 1 by itself, 2 with its token's; a voided claim voids what it made as well
  claim INTEGER REFERENCES claim,
  token INTEGER NOT NULL REFERENCES token,
  erased INTEGER NOT NULL,   -- named a contact that was erased: an unlink for good
  time INTEGER NOT NULL
) STRICT;
CREATE INDEX statement_by_user ON statement (user);
CREATE INDEX statement_by_contact ON statement (contact) WHERE contact IS NOT NULL;
CREATE INDEX statement_by_token ON statement (token, time);
CREATE INDEX statement_by_claim ON statement (claim) WHERE claim IS NOT NULL;

-- Written once, never changed. Every index begins with what grows with time, or is appended to in few places.
CREATE TABLE event (
  sequence INTEGER PRIMARY KEY,
  day INTEGER NOT NULL,
  account INTEGER NOT NULL,
  user INTEGER,
  contact INTEGER, -- only when logged with a contactUUID
  eventID INTEGER NOT NULL,
  eventUUID TEXT NOT NULL,
  eventTime INTEGER NOT NULL,
  receivedTime INTEGER NOT NULL,
  timeReplaced INTEGER NOT NULL,
  attributes TEXT NOT NULL -- JSON object of texts
) STRICT;
CREATE INDEX event_by_user ON event (day, user);
CREATE INDEX event_by_contact ON event (day, contact) WHERE contact IS NOT NULL;
CREATE INDEX event_by_account ON event (account);
CREATE INDEX event_by_kind ON event (account, eventID);

-- Who sent which eventUUID on which day: `holder` is the user, or minus the contact when there is no user.
CREATE TABLE event_repeat (
  day INTEGER NOT NULL,
  eventUUID TEXT NOT NULL,
  holder INTEGER NOT NULL,
  PRIMARY KEY (day, eventUUID, holder)
) STRICT, WITHOUT ROWID;

CREATE TABLE request_repeat (
  day INTEGER NOT NULL,
  requestUUID TEXT NOT NULL,
  token INTEGER NOT NULL,
  user INTEGER NOT NULL,
  contact INTEGER NOT NULL,
  claim INTEGER,
  existed INTEGER NOT NULL,
  PRIMARY KEY (day, requestUUID, token, user)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_repeat_by_contact ON request_repeat (contact);

-- How many events of a kind happened in a quarter of an hour of eventTime.
CREATE TABLE event_total (
  account INTEGER NOT NULL,
  eventID INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  count INTEGER NOT NULL,
  firstTime INTEGER NOT NULL,
  lastTime INTEGER NOT NULL,
  PRIMARY KEY (account, eventID, quarter)
) STRICT, WITHOUT ROWID;

-- Where a day of an account's events lies, and between which eventTimes, so that a read skips the other days.
CREATE TABLE account_day (
  account INTEGER NOT NULL,
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  firstSequence INTEGER NOT NULL,
  lastSequence INTEGER NOT NULL,
  firstTime INTEGER NOT NULL,
  lastTime INTEGER NOT NULL,
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure (
  erasure INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  erasedTime INTEGER NOT NULL,
  deletedEvents INTEGER NOT NULL,
  complete INTEGER NOT NULL
) STRICT;
CREATE INDEX erasure_open ON erasure (erasure) WHERE NOT complete;

-- What of an erasure is still to be deleted. Reads leave it out from the first moment.
CREATE TABLE erased_stretch (
  erasure INTEGER NOT NULL REFERENCES erasure,
  user INTEGER NOT NULL,
  after INTEGER NOT NULL,   -- after < sequence <= through
  through INTEGER NOT NULL,
  PRIMARY KEY (user, after, erasure)
) STRICT, WITHOUT ROWID;
CREATE TABLE erased_contact (
  erasure INTEGER NOT NULL REFERENCES erasure,
  contact INTEGER PRIMARY KEY
) STRICT;

-- Keyed hashes of what must still be recognised: contactUUIDs, handles and requestUUIDs (410), eventUUIDs (duplicate).
CREATE TABLE erased_identifier (
  hash BLOB PRIMARY KEY,
  erasure INTEGER NOT NULL REFERENCES erasure
) STRICT, WITHOUT ROWID;
CREATE TABLE erased_repeat (
  day INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (day, hash)
) STRICT, WITHOUT ROWID;
