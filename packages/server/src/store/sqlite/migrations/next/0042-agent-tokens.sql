-- A token may be an agent's: it reads counts. SQLite cannot change a CHECK, so the table is created again.
CREATE TABLE new_token (
  token INTEGER PRIMARY KEY,
  tokenID TEXT NOT NULL UNIQUE,
  account INTEGER REFERENCES account, -- NULL: an operator's
  kind TEXT NOT NULL CHECK (kind IN ('browser', 'agent', 'viewer', 'editor', 'server', 'operator')),
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
INSERT INTO new_token SELECT * FROM token;
DROP TABLE token;
ALTER TABLE new_token RENAME TO token;
CREATE INDEX token_by_account ON token (account);
CREATE INDEX token_by_maker ON token (createdBy) WHERE createdBy IS NOT NULL;

CREATE TRIGGER token_added AFTER INSERT ON token BEGIN UPDATE position SET access = access + 1; END;
-- Not with lastUsedTime, which changes nothing that a token may do.
CREATE TRIGGER token_changed AFTER UPDATE OF tokenID, account, kind, hash, text, expiresTime, revokedTime ON token
  BEGIN UPDATE position SET access = access + 1; END;
