-- A token may be an editor's: it changes contacts, catalogues and segments. SQLite cannot change a CHECK, so the table is made anew.
CREATE TABLE new_token (
  token INTEGER PRIMARY KEY,
  tokenID TEXT NOT NULL UNIQUE,
  account INTEGER REFERENCES account, -- NULL: an operator's
  kind TEXT NOT NULL CHECK (kind IN ('browser', 'viewer', 'editor', 'server', 'operator')),
  tokenName TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the token's text, hex
  text TEXT CHECK (text IS NULL OR kind = 'browser'),
  createdTime INTEGER NOT NULL,
  createdBy INTEGER REFERENCES token CHECK (createdBy < token), -- NULL: the command line
  expiresTime INTEGER,
  lastUsedTime INTEGER, -- the beginning of the hour
  revokedTime INTEGER,
  session INTEGER NOT NULL DEFAULT 0, -- is it a session of the console?
  memberID TEXT, -- of a member's access, and of the sessions that it made
  CHECK ((account IS NULL) = (kind = 'operator'))
) STRICT;
INSERT INTO new_token (token, tokenID, account, kind, tokenName, hash, text, createdTime, createdBy, expiresTime, lastUsedTime, revokedTime, session)
  SELECT token, tokenID, account, kind, tokenName, hash, text, createdTime, createdBy, expiresTime, lastUsedTime, revokedTime, session FROM token;
DROP TABLE token;
ALTER TABLE new_token RENAME TO token;
CREATE INDEX token_by_account ON token (account);
CREATE INDEX token_by_maker ON token (createdBy) WHERE createdBy IS NOT NULL;

CREATE TRIGGER token_added AFTER INSERT ON token BEGIN UPDATE position SET access = access + 1; END;
-- Not with lastUsedTime, which changes nothing that a token may do.
CREATE TRIGGER token_changed AFTER UPDATE OF tokenID, account, kind, hash, text, expiresTime, revokedTime ON token
  BEGIN UPDATE position SET access = access + 1; END;

-- The people who may sign in to the console of an account.
CREATE TABLE member (
  memberID TEXT PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  kind TEXT NOT NULL CHECK (kind IN ('viewer', 'editor', 'server')), -- what the member may do
  token INTEGER UNIQUE REFERENCES token, -- the access, of the same kind, which makes the sessions; NULL: nobody has joined yet
  emailaddress TEXT NOT NULL, -- canonical
  memberName TEXT NOT NULL,
  password TEXT, -- its hash; NULL: none was chosen yet
  joinedTime INTEGER, -- when it was chosen
  invitation TEXT UNIQUE, -- SHA-256 of the code of the open invitation, hex
  invitationExpiresTime INTEGER,
  invitedBy INTEGER REFERENCES token, -- who made the invitation; NULL: the command line
  createdTime INTEGER NOT NULL,
  UNIQUE (account, emailaddress)
) STRICT;
CREATE INDEX member_by_emailaddress ON member (emailaddress);
