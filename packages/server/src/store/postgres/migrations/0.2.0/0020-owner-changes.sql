-- What changed about the owners of events, in order: reports read it (rules/feed/fed-owners.ts). Only the newest million rows are stored.
CREATE SEQUENCE owner_change_number;
CREATE TABLE owner_change (
  account integer NOT NULL,
  change bigint NOT NULL DEFAULT nextval('owner_change_number'),
  what text NOT NULL CHECK (what IN ('user', 'merge', 'stretch erased', 'contact erased')),
  "user" bigint,
  contact bigint,
  after bigint,
  through bigint,
  mark integer NOT NULL DEFAULT floor(random() * 1000000000), -- tells it from a change that a restored backup had under this number
  PRIMARY KEY (account, change)
);
CREATE INDEX owner_change_in_order ON owner_change (change);

CREATE FUNCTION note_owner_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what, "user")
    VALUES (coalesce(NEW.account, OLD.account), 'user', coalesce(NEW."user", OLD."user"));
    RETURN NULL;
  END $$;
CREATE FUNCTION note_owner_of_merged() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what) VALUES (NEW.account, 'merge');
    RETURN NULL;
  END $$;
CREATE FUNCTION note_erased_stretch() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what, "user", after, through)
    SELECT account, 'stretch erased', NEW."user", NEW.after, NEW.through FROM erasure WHERE erasure = NEW.erasure;
    RETURN NULL;
  END $$;
CREATE FUNCTION note_erased_contact() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO owner_change (account, what, contact)
    SELECT account, 'contact erased', NEW.contact FROM erasure WHERE erasure = NEW.erasure;
    RETURN NULL;
  END $$;

CREATE TRIGGER owner_noted AFTER INSERT OR DELETE OR UPDATE OF contact, verified, voided ON statement FOR EACH ROW
  EXECUTE FUNCTION note_owner_of_user();
-- The marks of a claim are those of its links too (statements.ts).
CREATE TRIGGER owner_noted AFTER UPDATE OF accepted, voided ON claim FOR EACH ROW EXECUTE FUNCTION note_owner_of_user();
CREATE TRIGGER owner_noted AFTER UPDATE OF "mergedInto" ON contact FOR EACH ROW
  WHEN (OLD."mergedInto" IS DISTINCT FROM NEW."mergedInto") EXECUTE FUNCTION note_owner_of_merged();
CREATE TRIGGER erasure_noted AFTER INSERT ON erased_stretch FOR EACH ROW EXECUTE FUNCTION note_erased_stretch();
CREATE TRIGGER erasure_noted AFTER INSERT ON erased_contact FOR EACH ROW EXECUTE FUNCTION note_erased_contact();
