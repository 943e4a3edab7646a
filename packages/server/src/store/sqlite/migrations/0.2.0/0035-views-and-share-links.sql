-- Pages of reports of the console that are saved under a name.
CREATE TABLE report_view (
  account INTEGER NOT NULL REFERENCES account,
  viewName TEXT NOT NULL,
  page TEXT NOT NULL, -- 'overview' or 'events'
  query TEXT NOT NULL, -- of its address, at most 4 KiB
  createdTime INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL,
  PRIMARY KEY (account, viewName)
) STRICT, WITHOUT ROWID;

-- Secret links to one view of reports. A revoked link has no row.
CREATE TABLE share_link (
  shareID TEXT PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the secret, hex
  shareName TEXT NOT NULL,
  view TEXT NOT NULL, -- JSON: the page, its query, and the reports; at most about 70 KiB
  createdTime INTEGER NOT NULL,
  createdBy INTEGER REFERENCES token, -- NULL: the command line
  expiresTime INTEGER NOT NULL,
  lastUsedTime INTEGER -- the beginning of the hour
) STRICT;
CREATE INDEX share_link_by_account ON share_link (account);
