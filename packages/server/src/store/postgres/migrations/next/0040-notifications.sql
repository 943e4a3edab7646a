-- Digests and alerts, which are sent to members by mail.
CREATE TABLE notification (
  "notificationID" text COLLATE "C" PRIMARY KEY,
  account integer NOT NULL REFERENCES account,
  "notificationName" text NOT NULL,
  kind text NOT NULL,        -- 'digest', 'silence', 'threshold' or 'drop'
  settings text NOT NULL,    -- JSON
  page text NOT NULL,        -- of the console: 'overview' or 'events'
  query text NOT NULL,       -- of the page
  reports text NOT NULL,     -- JSON
  recipients text NOT NULL,  -- JSON: memberIDs
  state text NOT NULL,       -- 'active' or 'paused'
  "dueTime" bigint NOT NULL, -- of the next digest or check
  "activeSince" bigint,      -- NULL unless the condition of an alert holds
  "lastSentTime" bigint,
  "lastFailureTime" bigint,
  "lastFailure" text NOT NULL,
  "createdTime" bigint NOT NULL,
  "updatedTime" bigint NOT NULL
);
CREATE INDEX notification_by_account ON notification (account);
CREATE INDEX notification_by_due_time ON notification ("dueTime") WHERE state = 'active';

-- Mails that are not sent yet.
CREATE TABLE notification_mail (
  "mailID" text COLLATE "C" PRIMARY KEY, -- in the Message-ID
  account integer NOT NULL,
  "notificationID" text COLLATE "C" NOT NULL REFERENCES notification ON DELETE CASCADE,
  "memberID" text COLLATE "C" NOT NULL,
  occasion text NOT NULL,                -- JSON
  attempts integer NOT NULL,
  "nextTime" bigint NOT NULL             -- of the next attempt; a server that sends the mail moves it ahead first
);
CREATE INDEX notification_mail_by_notification ON notification_mail ("notificationID");
CREATE INDEX notification_mail_by_next_time ON notification_mail ("nextTime");

ALTER TABLE member ADD COLUMN "confirmedTime" bigint;        -- when the member confirmed the e-mail address
ALTER TABLE member ADD COLUMN "confirmationSentTime" bigint; -- when a mail last asked for that
