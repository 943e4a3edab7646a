-- The passkeys with which members sign in, instead of a password or beside it.
CREATE TABLE passkey (
  passkeyID TEXT PRIMARY KEY,
  memberID TEXT NOT NULL REFERENCES member ON DELETE CASCADE,
  passkeyName TEXT NOT NULL,
  origin TEXT NOT NULL, -- of the pages that made it, which alone it signs in to
  credentialID TEXT NOT NULL UNIQUE, -- base64url
  publicKey TEXT NOT NULL, -- a COSE key (RFC 9052 section 7), base64url
  counter INTEGER NOT NULL, -- of signatures, as the authenticator counted at the last one; 0: it does not count
  transports TEXT NOT NULL, -- how browsers reach the authenticator, separated by spaces
  createdTime INTEGER NOT NULL,
  lastUsedTime INTEGER
) STRICT;
CREATE INDEX passkey_by_member ON passkey (memberID);

-- The challenges that passkeys have answered, until they expire: none is answered twice.
CREATE TABLE answered_challenge (
  challenge TEXT PRIMARY KEY, -- base64url
  expiresTime INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
