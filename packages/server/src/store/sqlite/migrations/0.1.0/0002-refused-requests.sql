-- Writes that were refused for their content, without their token: to be read, and sent again after a fix.
CREATE TABLE refused_request (
  refused INTEGER PRIMARY KEY AUTOINCREMENT,
  token INTEGER NOT NULL REFERENCES token,
  operation TEXT NOT NULL CHECK (operation IN ('logEvent', 'logEvents', 'createContact', 'updateContact')),
  code TEXT NOT NULL,
  field TEXT NOT NULL, -- '' when no field is at fault
  message TEXT NOT NULL,
  refusedTime INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  address TEXT,        -- the canonical e-mail address that it names, to be found by when that is erased
  input TEXT NOT NULL  -- JSON: an object of fields, or the text that could not be read as one; last, because it is long
) STRICT;
CREATE INDEX refused_request_by_token ON refused_request (token);
CREATE INDEX refused_request_by_time ON refused_request (refusedTime);

-- Of a token's refusals, each is in one of these: on the list, or gone from it for one of three reasons.
CREATE TABLE refused_count (
  token INTEGER PRIMARY KEY REFERENCES token,
  listed INTEGER NOT NULL,
  listedBytes INTEGER NOT NULL,
  evicted INTEGER NOT NULL,
  erased INTEGER NOT NULL,
  replayed INTEGER NOT NULL
) STRICT;
