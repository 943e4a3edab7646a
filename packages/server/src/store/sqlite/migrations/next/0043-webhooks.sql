-- Endpoints that receive an account's events and changes.
CREATE TABLE webhook (
  webhookID TEXT PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  types TEXT NOT NULL,          -- JSON: the types of messages
  filter TEXT NOT NULL,         -- JSON: which events
  payload TEXT NOT NULL,        -- 'thin' or 'full'
  state TEXT NOT NULL,          -- 'active', 'paused' or 'disabled'
  disabledReason TEXT NOT NULL, -- '' unless disabled
  secretTime INTEGER NOT NULL,  -- when the secret was created, from which it is derived
  previousSecretTime INTEGER,   -- that of the secret before the last rotation
  sentThrough INTEGER NOT NULL, -- each message up to this sequence was delivered, or is in webhook_delivery
  failures INTEGER NOT NULL,    -- failed batches since the last success
  waitUntil INTEGER NOT NULL,   -- no attempts before this time
  lastSuccessTime INTEGER,
  lastFailureTime INTEGER,
  lastFailure TEXT NOT NULL,
  leasedBy TEXT NOT NULL,       -- the server that sends, until leasedUntil
  leasedUntil INTEGER NOT NULL,
  createdTime INTEGER NOT NULL,
  createdBy INTEGER REFERENCES token, -- NULL: the command line
  updatedTime INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_by_account ON webhook (account);
CREATE INDEX webhook_by_creator ON webhook (createdBy) WHERE createdBy IS NOT NULL;

-- Failed deliveries.
CREATE TABLE webhook_delivery (
  account INTEGER NOT NULL REFERENCES account,
  webhookID TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  firstTime INTEGER NOT NULL, -- of the first attempt
  lastTime INTEGER NOT NULL,
  nextTime INTEGER,           -- NULL: no more attempts
  httpStatus INTEGER,         -- NULL: no response
  error TEXT NOT NULL,
  response TEXT NOT NULL,     -- its first characters
  PRIMARY KEY (webhookID, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_by_next_time ON webhook_delivery (webhookID, nextTime) WHERE nextTime IS NOT NULL;

-- Changes that webhooks send and that no other table has in sequence order.
CREATE TABLE webhook_fact (
  account INTEGER NOT NULL REFERENCES account,
  sequence INTEGER NOT NULL,
  type TEXT NOT NULL,
  contact INTEGER,
  other INTEGER, -- the contact that was merged or unmerged
  user INTEGER,
  detail TEXT NOT NULL, -- JSON
  time INTEGER NOT NULL,
  PRIMARY KEY (account, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_fact_by_time ON webhook_fact (time);
CREATE INDEX webhook_fact_by_contact ON webhook_fact (account, contact) WHERE contact IS NOT NULL;
CREATE INDEX webhook_fact_by_other ON webhook_fact (account, other) WHERE other IS NOT NULL;
