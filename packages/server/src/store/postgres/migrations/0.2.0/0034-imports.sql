-- Imported files, by their fingerprint: the same file is imported once.
CREATE TABLE import (
  account integer NOT NULL,
  "importID" text COLLATE "C" NOT NULL,
  kind text NOT NULL, -- 'events' or 'contacts'
  "importName" text NOT NULL,
  fingerprint text COLLATE "C" NOT NULL, -- of the file's content, computed by the client
  position bigint NOT NULL, -- how many of the file's records were read
  "isComplete" boolean NOT NULL,
  imported bigint NOT NULL,
  repeated bigint NOT NULL,
  refused bigint NOT NULL,
  kept bigint NOT NULL, -- contacts that its undo did not remove, because something else has changed or uses them
  "createdTime" bigint NOT NULL,
  "undoneTime" bigint, -- when its undo began
  erasure bigint, -- which undoes it
  "isUndoing" boolean NOT NULL,
  PRIMARY KEY (account, "importID")
);
CREATE INDEX import_by_fingerprint ON import (account, fingerprint);
CREATE INDEX import_undoing ON import (account) WHERE "isUndoing";

-- The sequences of an import's events and links: after < sequence <= through. No other writer of the account draws these.
CREATE TABLE import_stretch (
  account integer NOT NULL,
  "importID" text COLLATE "C" NOT NULL,
  after bigint NOT NULL,
  through bigint NOT NULL,
  PRIMARY KEY (account, "importID", after)
);

-- The contacts that an import has written.
CREATE TABLE import_contact (
  account integer NOT NULL,
  "importID" text COLLATE "C" NOT NULL,
  contact bigint NOT NULL, -- may be erased since
  "isCreated" boolean NOT NULL,
  "updatedTime" bigint NOT NULL, -- of the contact, after the import's last write; -1: something else has written to it in between
  changes text NOT NULL, -- JSON: {name: [value before, value after]}, of a contact that existed
  PRIMARY KEY (account, "importID", contact)
);
CREATE INDEX import_contact_by_contact ON import_contact (account, contact);
-- Finds the stored values of a key that is erased.
CREATE INDEX import_contact_by_earlier_id ON import_contact (account, (changes::json -> 'contactExternalID' ->> 0))
  WHERE (changes::json -> 'contactExternalID' ->> 0) IS NOT NULL;
CREATE INDEX import_contact_by_imported_id ON import_contact (account, (changes::json -> 'contactExternalID' ->> 1))
  WHERE (changes::json -> 'contactExternalID' ->> 1) IS NOT NULL;
CREATE INDEX import_contact_by_earlier_address ON import_contact (account, (changes::json -> 'contactEmailaddress' ->> 0))
  WHERE (changes::json -> 'contactEmailaddress' ->> 0) IS NOT NULL;
CREATE INDEX import_contact_by_imported_address ON import_contact (account, (changes::json -> 'contactEmailaddress' ->> 1))
  WHERE (changes::json -> 'contactEmailaddress' ->> 1) IS NOT NULL;

CREATE FUNCTION note_undone_import() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what, after, through)
    SELECT account, 'stretch erased', after, through FROM import_stretch
    WHERE account = NEW.account AND "importID" = NEW."importID";
    RETURN NULL;
  END $$;
CREATE TRIGGER import_undone AFTER UPDATE OF erasure ON import FOR EACH ROW EXECUTE FUNCTION note_undone_import();
