-- The segments whose changes a webhook sends.
CREATE TABLE webhook_audience (
  account INTEGER NOT NULL REFERENCES account,
  audience INTEGER NOT NULL,
  webhookID TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  segmentName TEXT NOT NULL,
  nextTime INTEGER NOT NULL,  -- when its contacts are compared next
  comparedTime INTEGER,
  contacts INTEGER NOT NULL,  -- at comparedTime
  problem TEXT NOT NULL,      -- why the last comparison failed, or ''
  PRIMARY KEY (account, audience),
  UNIQUE (webhookID, segmentName)
) STRICT, WITHOUT ROWID;

-- The contacts in a segment, as its webhook has sent them.
CREATE TABLE webhook_member (
  account INTEGER NOT NULL,
  audience INTEGER NOT NULL,
  contact INTEGER NOT NULL,
  PRIMARY KEY (account, audience, contact),
  FOREIGN KEY (account, audience) REFERENCES webhook_audience ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

ALTER TABLE webhook_fact ADD COLUMN webhookID TEXT; -- NULL: for all webhooks of the account
