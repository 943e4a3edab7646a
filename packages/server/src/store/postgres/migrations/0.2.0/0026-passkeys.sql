-- The passkeys with which members sign in, instead of a password or beside it.
CREATE TABLE passkey (
  "passkeyID" text PRIMARY KEY,
  "memberID" text NOT NULL REFERENCES member ON DELETE CASCADE,
  "passkeyName" text NOT NULL,
  origin text NOT NULL, -- of the pages that made it, which alone it signs in to
  "credentialID" text NOT NULL UNIQUE, -- base64url
  "publicKey" text NOT NULL, -- a COSE key (RFC 9052 section 7), base64url
  counter bigint NOT NULL, -- of signatures, as the authenticator counted at the last one; 0: it does not count
  transports text NOT NULL, -- how browsers reach the authenticator, separated by spaces
  "createdTime" bigint NOT NULL,
  "lastUsedTime" bigint
);
CREATE INDEX passkey_by_member ON passkey ("memberID");

-- The challenges that passkeys have answered, until they expire: none is answered twice.
CREATE TABLE answered_challenge (
  challenge text PRIMARY KEY, -- base64url
  "expiresTime" bigint NOT NULL
);
