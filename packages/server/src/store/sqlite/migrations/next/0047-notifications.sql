-- Digests and alerts, which are sent to members by mail.
CREATE TABLE notification (
  notificationID TEXT PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  notificationName TEXT NOT NULL,
  kind TEXT NOT NULL,       -- 'digest', 'silence', 'threshold' or 'drop'
  settings TEXT NOT NULL,   -- JSON
  page TEXT NOT NULL,       -- of the console: 'overview' or 'events'
  query TEXT NOT NULL,      -- of the page
  reports TEXT NOT NULL,    -- JSON
  recipients TEXT NOT NULL, -- JSON: memberIDs
  state TEXT NOT NULL,      -- 'active' or 'paused'
  dueTime INTEGER NOT NULL, -- of the next digest or check
  activeSince INTEGER,      -- NULL unless the condition of an alert holds
  lastSentTime INTEGER,
  lastFailureTime INTEGER,
  lastFailure TEXT NOT NULL,
  createdTime INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL
) STRICT;
CREATE INDEX notification_by_account ON notification (account);
CREATE INDEX notification_by_due_time ON notification (dueTime) WHERE state = 'active';

-- Mails that are not sent yet.
CREATE TABLE notification_mail (
  mailID TEXT PRIMARY KEY,   -- in the Message-ID
  account INTEGER NOT NULL REFERENCES account,
  notificationID TEXT NOT NULL REFERENCES notification ON DELETE CASCADE,
  memberID TEXT NOT NULL,
  occasion TEXT NOT NULL,    -- JSON
  attempts INTEGER NOT NULL,
  nextTime INTEGER NOT NULL  -- of the next attempt; a server that sends the mail moves it ahead first
) STRICT;
CREATE INDEX notification_mail_by_notification ON notification_mail (notificationID);
CREATE INDEX notification_mail_by_next_time ON notification_mail (nextTime);

ALTER TABLE member ADD COLUMN confirmedTime INTEGER;        -- when the member confirmed the e-mail address
ALTER TABLE member ADD COLUMN confirmationSentTime INTEGER; -- when a mail last asked for that
