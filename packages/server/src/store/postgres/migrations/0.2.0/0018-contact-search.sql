-- What searchContact finds without reading every contact (contacts/contact-index.ts). A row for each contact that is not merged: the
-- terms of its view and the last day on which it was seen. Derived: `contact_changed` lists the contacts whose rows may be out of
-- date, which searches read as they are.
CREATE TABLE contact_found (
  contact bigint PRIMARY KEY,
  account integer NOT NULL,
  "createdTime" bigint NOT NULL,
  "lastSeen" bigint NOT NULL, -- a day; 0: never
  terms bigint[] NOT NULL     -- hashes (rules/contact-search.ts)
);
CREATE INDEX contact_found_by_seen ON contact_found (account, "lastSeen", contact);
CREATE TABLE contact_term (
  account integer NOT NULL,
  term bigint NOT NULL,
  "createdTime" bigint NOT NULL,
  contact bigint NOT NULL,
  PRIMARY KEY (account, term, "createdTime", contact)
);
-- Each change has a row of its own, so that no transaction waits for another.
CREATE TABLE contact_changed (
  contact bigint NOT NULL,
  change bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (contact, change)
);
CREATE INDEX contact_by_time ON contact (account, "createdTime", contact);

-- The last day on which the user had been active before the statement: what the stretch that it ends was last seen.
ALTER TABLE statement ADD COLUMN "seenDay" integer;
-- Earlier statements don't have it: their stretches count as active until they end.
UPDATE statement SET "seenDay" = least(u."lastDay", statement.time / 86400000)
FROM "user" u WHERE u."user" = statement."user" AND u."lastDay" IS NOT NULL;

INSERT INTO contact_changed (contact) SELECT contact FROM contact;

CREATE FUNCTION note_contact() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO contact_changed (contact) VALUES (coalesce(NEW.contact, OLD.contact));
    RETURN NULL;
  END $$;
CREATE FUNCTION note_merge() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO contact_changed (contact)
    SELECT contact FROM (VALUES (NEW."mergedInto"), (OLD."mergedInto")) AS merged (contact) WHERE contact IS NOT NULL;
    RETURN NULL;
  END $$;
-- All contacts that a user was ever linked to: which of them the user is may have changed.
CREATE FUNCTION note_contacts_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    whose bigint := coalesce(NEW."user", OLD."user");
  BEGIN
    INSERT INTO contact_changed (contact)
    SELECT contact FROM statement WHERE "user" = whose AND contact IS NOT NULL
    UNION SELECT OLD.contact WHERE OLD.contact IS NOT NULL;
    RETURN NULL;
  END $$;
-- A day of activity concerns whom a user is now: none before its last verified link.
CREATE FUNCTION note_seen_users() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
  BEGIN
    INSERT INTO contact_changed (contact)
    SELECT DISTINCT s.contact FROM seen u JOIN statement s ON s."user" = u."user"
    WHERE s.contact IS NOT NULL AND s.sequence >= coalesce(
      (SELECT max(v.sequence) FROM statement v WHERE v."user" = u."user" AND v.verified AND v.voided = 0), 0);
    RETURN NULL;
  END $$;

CREATE TRIGGER contact_noted AFTER INSERT OR DELETE ON contact FOR EACH ROW EXECUTE FUNCTION note_contact();
CREATE TRIGGER contact_change_noted AFTER UPDATE ON contact FOR EACH ROW
  WHEN (OLD.said IS DISTINCT FROM NEW.said OR OLD."contactStatus" <> NEW."contactStatus"
    OR OLD."lastDay" IS DISTINCT FROM NEW."lastDay" OR OLD."mergedInto" IS DISTINCT FROM NEW."mergedInto")
  EXECUTE FUNCTION note_contact();
CREATE TRIGGER merge_noted AFTER UPDATE OF "mergedInto" ON contact FOR EACH ROW
  WHEN (OLD."mergedInto" IS DISTINCT FROM NEW."mergedInto") EXECUTE FUNCTION note_merge();
CREATE TRIGGER claim_noted AFTER INSERT OR DELETE OR UPDATE OF said ON claim FOR EACH ROW EXECUTE FUNCTION note_contact();
-- The marks of a claim are those of its links too (statements.ts), and so decide whose the user is.
CREATE TRIGGER claim_mark_noted AFTER UPDATE OF accepted, voided ON claim FOR EACH ROW
  EXECUTE FUNCTION note_contacts_of_user();
-- A link at the end of a history changes its own contact only: the stretch before it keeps the day that it was last seen.
CREATE TRIGGER link_noted AFTER INSERT ON statement FOR EACH ROW WHEN (NEW.contact IS NOT NULL)
  EXECUTE FUNCTION note_contact();
CREATE TRIGGER link_change_noted AFTER DELETE OR UPDATE OF contact, verified, voided ON statement FOR EACH ROW
  EXECUTE FUNCTION note_contacts_of_user();
CREATE TRIGGER user_seen AFTER UPDATE ON "user" REFERENCING NEW TABLE AS seen FOR EACH STATEMENT
  EXECUTE FUNCTION note_seen_users();
