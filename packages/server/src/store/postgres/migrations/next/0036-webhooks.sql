-- Endpoints that receive an account's events and changes.
CREATE TABLE webhook (
  "webhookID" text COLLATE "C" PRIMARY KEY,
  account integer NOT NULL REFERENCES account,
  url text NOT NULL,
  description text NOT NULL,
  types text NOT NULL,            -- JSON: the types of messages
  filter text NOT NULL,           -- JSON: which events
  payload text NOT NULL,          -- 'thin' or 'full'
  state text NOT NULL,            -- 'active', 'paused' or 'disabled'
  "disabledReason" text NOT NULL, -- '' unless disabled
  "secretTime" bigint NOT NULL,   -- when the secret was created, from which it is derived
  "previousSecretTime" bigint,    -- that of the secret before the last rotation
  "sentThrough" bigint NOT NULL,  -- each message up to this sequence was delivered, or is in webhook_delivery
  failures integer NOT NULL,      -- failed batches since the last success
  "waitUntil" bigint NOT NULL,    -- no attempts before this time
  "lastSuccessTime" bigint,
  "lastFailureTime" bigint,
  "lastFailure" text NOT NULL,
  "leasedBy" text NOT NULL,       -- the server that sends, until leasedUntil
  "leasedUntil" bigint NOT NULL,
  "createdTime" bigint NOT NULL,
  "createdBy" integer REFERENCES token, -- NULL: the command line
  "updatedTime" bigint NOT NULL
);
CREATE INDEX webhook_by_account ON webhook (account);
CREATE INDEX webhook_by_creator ON webhook ("createdBy") WHERE "createdBy" IS NOT NULL;

-- Failed deliveries.
CREATE TABLE webhook_delivery (
  account integer NOT NULL,
  "webhookID" text COLLATE "C" NOT NULL REFERENCES webhook ON DELETE CASCADE,
  sequence bigint NOT NULL,
  attempts integer NOT NULL,
  "firstTime" bigint NOT NULL, -- of the first attempt
  "lastTime" bigint NOT NULL,
  "nextTime" bigint,           -- NULL: no more attempts
  "httpStatus" integer,        -- NULL: no response
  error text NOT NULL,
  response text NOT NULL,      -- its first characters
  PRIMARY KEY ("webhookID", sequence)
);
CREATE INDEX webhook_delivery_by_next_time ON webhook_delivery ("webhookID", "nextTime") WHERE "nextTime" IS NOT NULL;

-- Changes that webhooks send and that no other table has in sequence order.
CREATE TABLE webhook_fact (
  account integer NOT NULL,
  sequence bigint NOT NULL,
  type text NOT NULL,
  contact bigint,
  other bigint, -- the contact that was merged or unmerged
  "user" bigint,
  detail text NOT NULL, -- JSON
  time bigint NOT NULL,
  PRIMARY KEY (account, sequence)
);
CREATE INDEX webhook_fact_by_time ON webhook_fact (time);
CREATE INDEX webhook_fact_by_contact ON webhook_fact (account, contact) WHERE contact IS NOT NULL;
CREATE INDEX webhook_fact_by_other ON webhook_fact (account, other) WHERE other IS NOT NULL;
