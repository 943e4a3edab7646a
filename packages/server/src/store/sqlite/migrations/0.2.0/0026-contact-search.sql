-- What searchContact finds without reading every contact (contacts/contact-index.ts). A row for each contact that is not merged: the
-- terms of its view and the last day on which it was seen. Derived: `contact_changed` lists the contacts whose rows may be out of
-- date, which searches read as they are.
CREATE TABLE contact_found (
  contact INTEGER PRIMARY KEY,
  account INTEGER NOT NULL,
  createdTime INTEGER NOT NULL,
  lastSeen INTEGER NOT NULL, -- a day; 0: never
  terms TEXT NOT NULL        -- JSON array of hashes (rules/contact-search.ts)
) STRICT;
CREATE INDEX contact_found_by_seen ON contact_found (account, lastSeen, contact);
CREATE TABLE contact_term (
  account INTEGER NOT NULL,
  term INTEGER NOT NULL,
  createdTime INTEGER NOT NULL,
  contact INTEGER NOT NULL,
  PRIMARY KEY (account, term, createdTime, contact)
) STRICT, WITHOUT ROWID;
CREATE TABLE contact_changed (
  contact INTEGER PRIMARY KEY
) STRICT;
CREATE INDEX contact_by_time ON contact (account, createdTime, contact);

-- The last day on which the user had been active before the statement: what the stretch that it ends was last seen.
ALTER TABLE statement ADD COLUMN seenDay INTEGER;
-- Earlier statements don't have it: their stretches count as active until they end.
UPDATE statement SET seenDay = (SELECT min(u.lastDay, statement.time / 86400000) FROM user u WHERE u.user = statement.user);

INSERT INTO contact_changed SELECT contact FROM contact;

CREATE TRIGGER contact_changed_by_insert AFTER INSERT ON contact BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER contact_changed_by_update AFTER UPDATE OF contactProfileID, contactStatus, mergedInto, lastDay ON contact BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
  INSERT INTO contact_changed SELECT NEW.mergedInto WHERE NEW.mergedInto IS NOT NULL ON CONFLICT DO NOTHING;
  INSERT INTO contact_changed SELECT OLD.mergedInto WHERE OLD.mergedInto IS NOT NULL ON CONFLICT DO NOTHING;
END;
-- An erased contact leaves the index with the commit that erases it.
CREATE TRIGGER contact_erased AFTER UPDATE OF mergedInto ON contact WHEN NEW.mergedInto = NEW.contact BEGIN
  DELETE FROM contact_term WHERE (account, term, createdTime, contact) IN (
    SELECT f.account, t.value, f.createdTime, f.contact FROM contact_found f, json_each(f.terms) t WHERE f.contact = NEW.contact
  );
  DELETE FROM contact_found WHERE contact = NEW.contact;
END;
CREATE TRIGGER contact_deleted AFTER DELETE ON contact BEGIN
  DELETE FROM contact_changed WHERE contact = OLD.contact;
END;
CREATE TRIGGER contact_tag_insert AFTER INSERT ON contact_tag BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER contact_tag_update AFTER UPDATE ON contact_tag BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER contact_attr_insert AFTER INSERT ON contact_attr BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER contact_attr_update AFTER UPDATE ON contact_attr BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER claim_insert AFTER INSERT ON claim BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER claim_said AFTER UPDATE OF said ON claim BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
-- The marks of a claim are those of its links too (statements.ts), and so decide whose the user is.
CREATE TRIGGER claim_marked AFTER UPDATE OF accepted, voided ON claim BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
  INSERT INTO contact_changed SELECT DISTINCT contact FROM statement WHERE user = NEW.user AND contact IS NOT NULL
  ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER claim_deleted AFTER DELETE ON claim BEGIN
  INSERT INTO contact_changed VALUES (OLD.contact) ON CONFLICT DO NOTHING;
END;
-- A link at the end of a history changes its own contact only: the stretch before it keeps the day that it was last seen.
CREATE TRIGGER statement_insert AFTER INSERT ON statement WHEN NEW.contact IS NOT NULL BEGIN
  INSERT INTO contact_changed VALUES (NEW.contact) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER statement_update AFTER UPDATE OF contact, verified, voided ON statement BEGIN
  INSERT INTO contact_changed SELECT OLD.contact WHERE OLD.contact IS NOT NULL ON CONFLICT DO NOTHING;
  INSERT INTO contact_changed SELECT DISTINCT contact FROM statement WHERE user = NEW.user AND contact IS NOT NULL
  ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER statement_deleted AFTER DELETE ON statement WHEN OLD.contact IS NOT NULL BEGIN
  INSERT INTO contact_changed VALUES (OLD.contact) ON CONFLICT DO NOTHING;
  INSERT INTO contact_changed SELECT DISTINCT contact FROM statement WHERE user = OLD.user AND contact IS NOT NULL
  ON CONFLICT DO NOTHING;
END;
-- A day of activity concerns whom the user is now: none before its last verified link.
CREATE TRIGGER user_seen AFTER UPDATE OF lastDay ON user WHEN NEW.lastDay IS NOT OLD.lastDay BEGIN
  INSERT INTO contact_changed
  SELECT DISTINCT contact FROM statement WHERE user = NEW.user AND contact IS NOT NULL AND sequence >= coalesce(
    (SELECT max(sequence) FROM statement WHERE user = NEW.user AND verified AND NOT voided), 0)
  ON CONFLICT DO NOTHING;
END;
