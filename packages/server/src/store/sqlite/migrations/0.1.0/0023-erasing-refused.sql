-- Refused requests up to `through` are still to be searched for an erased person; reads leave out those that name the person. Until all
-- are searched, the person's claims and links stay, and what else names the person: the contacts' own names, and users who were
-- detached meanwhile.
CREATE TABLE erasing_refused (
  erasure INTEGER PRIMARY KEY REFERENCES erasure,
  through INTEGER NOT NULL
) STRICT;
CREATE TABLE erasing_user (
  erasure INTEGER NOT NULL REFERENCES erasure,
  user INTEGER NOT NULL REFERENCES user,
  PRIMARY KEY (erasure, user)
) STRICT, WITHOUT ROWID;
ALTER TABLE erasing_contact ADD COLUMN contactUUID TEXT;
ALTER TABLE erasing_contact ADD COLUMN contactEmailaddress TEXT;
