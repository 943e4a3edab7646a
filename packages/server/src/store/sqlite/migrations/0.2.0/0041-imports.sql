-- Imported files, by their fingerprint: the same file is imported once.
CREATE TABLE import (
  importID TEXT PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account,
  kind TEXT NOT NULL, -- 'events' or 'contacts'
  importName TEXT NOT NULL,
  fingerprint TEXT NOT NULL, -- of the file's content, computed by the client
  position INTEGER NOT NULL, -- how many of the file's records were read
  isComplete INTEGER NOT NULL,
  imported INTEGER NOT NULL,
  repeated INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  kept INTEGER NOT NULL, -- contacts that its undo did not remove, because something else has changed or uses them
  createdTime INTEGER NOT NULL,
  undoneTime INTEGER, -- when its undo began
  erasure INTEGER REFERENCES erasure, -- which undoes it
  isUndoing INTEGER NOT NULL
) STRICT;
CREATE INDEX import_by_fingerprint ON import (account, fingerprint);
CREATE INDEX import_undoing ON import (importID) WHERE isUndoing = 1;

-- The sequences of an import's events and links: after < sequence <= through.
CREATE TABLE import_stretch (
  account INTEGER NOT NULL,
  importID TEXT NOT NULL REFERENCES import,
  after INTEGER NOT NULL,
  through INTEGER NOT NULL,
  PRIMARY KEY (importID, after)
) STRICT, WITHOUT ROWID;

-- The contacts that an import has written.
CREATE TABLE import_contact (
  account INTEGER NOT NULL,
  importID TEXT NOT NULL REFERENCES import,
  contact INTEGER NOT NULL, -- may be erased since
  isCreated INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL, -- of the contact, after the import's last write; -1: something else has written to it in between
  changes TEXT NOT NULL, -- JSON: {name: [value before, value after]}, of a contact that existed
  PRIMARY KEY (importID, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_contact_by_contact ON import_contact (contact);
-- Finds the stored values of a key that is erased.
CREATE INDEX import_contact_by_earlier_id ON import_contact (account, changes ->> '$.contactExternalID[0]')
  WHERE changes ->> '$.contactExternalID[0]' IS NOT NULL;
CREATE INDEX import_contact_by_imported_id ON import_contact (account, changes ->> '$.contactExternalID[1]')
  WHERE changes ->> '$.contactExternalID[1]' IS NOT NULL;
CREATE INDEX import_contact_by_earlier_address ON import_contact (account, changes ->> '$.contactEmailaddress[0]')
  WHERE changes ->> '$.contactEmailaddress[0]' IS NOT NULL;
CREATE INDEX import_contact_by_imported_address ON import_contact (account, changes ->> '$.contactEmailaddress[1]')
  WHERE changes ->> '$.contactEmailaddress[1]' IS NOT NULL;

CREATE TRIGGER import_undone AFTER UPDATE OF erasure ON import BEGIN
  INSERT INTO owner_change (account, what, after, through)
  SELECT account, 'stretch erased', after, through FROM import_stretch WHERE importID = NEW.importID;
END;
