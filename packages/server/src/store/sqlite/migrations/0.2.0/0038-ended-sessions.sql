-- Ended sessions and share links are deleted. What names a token is found by an index, so that SQLite checks a deleted one at once.
CREATE INDEX audit_by_token ON audit (token) WHERE token IS NOT NULL;
CREATE INDEX claim_by_token ON claim (token);
CREATE INDEX member_by_inviter ON member (invitedBy) WHERE invitedBy IS NOT NULL;

-- The page has a column of its own, and the view comes last: a list does not read the views, which are long.
CREATE TABLE new_share_link (
  shareID TEXT PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the secret, hex
  shareName TEXT NOT NULL,
  page TEXT NOT NULL, -- 'overview' or 'events'
  createdTime INTEGER NOT NULL,
  createdBy INTEGER REFERENCES token, -- NULL: the command line
  expiresTime INTEGER NOT NULL,
  lastUsedTime INTEGER, -- the beginning of the hour
  view TEXT NOT NULL -- JSON: the query of the page, and the reports; at most about 70 KiB
) STRICT;
INSERT INTO new_share_link (shareID, account, hash, shareName, page, createdTime, createdBy, expiresTime, lastUsedTime, view)
  SELECT shareID, account, hash, shareName, json_extract(view, '$.page'), createdTime, createdBy, expiresTime, lastUsedTime, view
  FROM share_link;
DROP TABLE share_link;
ALTER TABLE new_share_link RENAME TO share_link;
CREATE INDEX share_link_by_account ON share_link (account);
CREATE INDEX share_link_by_maker ON share_link (createdBy) WHERE createdBy IS NOT NULL;
CREATE INDEX share_link_by_end ON share_link (expiresTime);
