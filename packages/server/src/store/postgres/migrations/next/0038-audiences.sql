-- The segments whose changes a webhook sends.
CREATE TABLE webhook_audience (
  account integer NOT NULL REFERENCES account,
  audience integer NOT NULL,
  "webhookID" text COLLATE "C" NOT NULL REFERENCES webhook ON DELETE CASCADE,
  "segmentName" text COLLATE "C" NOT NULL,
  "nextTime" bigint NOT NULL, -- when its contacts are compared next
  "comparedTime" bigint,
  contacts integer NOT NULL,  -- at comparedTime
  problem text NOT NULL,      -- why the last comparison failed, or ''
  PRIMARY KEY (account, audience),
  UNIQUE ("webhookID", "segmentName")
);

-- The contacts in a segment, as its webhook has sent them.
CREATE TABLE webhook_member (
  account integer NOT NULL,
  audience integer NOT NULL,
  contact bigint NOT NULL,
  PRIMARY KEY (account, audience, contact),
  FOREIGN KEY (account, audience) REFERENCES webhook_audience ON DELETE CASCADE
);

ALTER TABLE webhook_fact ADD COLUMN "webhookID" text COLLATE "C"; -- NULL: for all webhooks of the account
