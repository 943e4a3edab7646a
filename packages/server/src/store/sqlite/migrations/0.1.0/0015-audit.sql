-- Who did what to whom, and when: written in the transaction of what it records, never changed, kept through erasures.
CREATE TABLE audit (
  audit INTEGER PRIMARY KEY,
  account INTEGER REFERENCES account, -- NULL: of the service itself
  token INTEGER REFERENCES token,     -- who; NULL: the command line
  action TEXT NOT NULL,
  subject TEXT NOT NULL, -- JSON; no personal data beyond a contactUUID
  time INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_by_account ON audit (account, audit);

CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
