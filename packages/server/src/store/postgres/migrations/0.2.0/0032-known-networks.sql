-- The networks from which members have signed in with a password: floods and guesses from elsewhere do not lock them out there.
CREATE TABLE known_network (
  "memberID" text NOT NULL REFERENCES member ON DELETE CASCADE,
  network text NOT NULL, -- keyed hash, base64url
  "expiresTime" bigint NOT NULL,
  PRIMARY KEY ("memberID", network)
);
CREATE INDEX known_network_by_end ON known_network ("expiresTime");
