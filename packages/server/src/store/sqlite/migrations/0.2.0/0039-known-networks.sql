-- The networks from which members have signed in with a password: floods and guesses from elsewhere do not lock them out there.
CREATE TABLE known_network (
  memberID TEXT NOT NULL REFERENCES member ON DELETE CASCADE,
  network TEXT NOT NULL, -- keyed hash, base64url
  expiresTime INTEGER NOT NULL,
  PRIMARY KEY (memberID, network)
) STRICT;
CREATE INDEX known_network_by_end ON known_network (expiresTime);
