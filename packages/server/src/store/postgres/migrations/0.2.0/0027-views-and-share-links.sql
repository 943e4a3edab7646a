-- Pages of reports of the console that are saved under a name.
CREATE TABLE report_view (
  account integer NOT NULL,
  "viewName" text COLLATE "C" NOT NULL,
  page text NOT NULL, -- 'overview' or 'events'
  query text NOT NULL, -- of its address, at most 4 KiB
  "createdTime" bigint NOT NULL,
  "updatedTime" bigint NOT NULL,
  PRIMARY KEY (account, "viewName")
);

-- Secret links to one view of reports. A revoked link has no row.
CREATE TABLE share_link (
  "shareID" text PRIMARY KEY,
  account integer NOT NULL REFERENCES account,
  hash text NOT NULL UNIQUE, -- SHA-256 of the secret, hex
  "shareName" text NOT NULL,
  view text NOT NULL, -- JSON: the page, its query, and the reports; at most about 70 KiB
  "createdTime" bigint NOT NULL,
  "createdBy" integer REFERENCES token, -- NULL: the command line
  "expiresTime" bigint NOT NULL,
  "lastUsedTime" bigint -- the beginning of the hour
);
CREATE INDEX share_link_by_account ON share_link (account);
