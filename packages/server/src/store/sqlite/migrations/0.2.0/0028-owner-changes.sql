-- What changed about the owners of events, in order: reports read it (rules/feed/fed-owners.ts). Only the newest million rows are stored.
CREATE TABLE owner_change (
  change INTEGER PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('user', 'merge', 'stretch erased', 'contact erased')),
  user INTEGER,
  contact INTEGER,
  after INTEGER,
  through INTEGER,
  mark INTEGER NOT NULL DEFAULT (abs(random() % 1000000000)) -- tells it from a change that a restored backup had under this number
) STRICT;
CREATE TRIGGER owner_change_trimmed AFTER INSERT ON owner_change BEGIN
  DELETE FROM owner_change WHERE change <= NEW.change - 1000000;
END;

CREATE TRIGGER owner_changed_by_statement AFTER INSERT ON statement BEGIN
  INSERT INTO owner_change (account, what, user) SELECT account, 'user', user FROM user WHERE user = NEW.user;
END;
CREATE TRIGGER owner_changed_by_statement_update AFTER UPDATE OF contact, verified, voided ON statement BEGIN
  INSERT INTO owner_change (account, what, user) SELECT account, 'user', user FROM user WHERE user = NEW.user;
END;
CREATE TRIGGER owner_changed_by_statement_delete AFTER DELETE ON statement BEGIN
  INSERT INTO owner_change (account, what, user) SELECT account, 'user', user FROM user WHERE user = OLD.user;
END;
-- The marks of a claim are those of its links too (statements.ts).
CREATE TRIGGER owner_changed_by_claim AFTER UPDATE OF accepted, voided ON claim BEGIN
  INSERT INTO owner_change (account, what, user) VALUES (NEW.account, 'user', NEW.user);
END;
CREATE TRIGGER owner_changed_by_merge AFTER UPDATE OF mergedInto ON contact WHEN OLD.mergedInto IS NOT NEW.mergedInto BEGIN
  INSERT INTO owner_change (account, what) VALUES (NEW.account, 'merge');
END;
CREATE TRIGGER stretch_erased AFTER INSERT ON erased_stretch BEGIN
  INSERT INTO owner_change (account, what, user, after, through)
  SELECT account, 'stretch erased', NEW.user, NEW.after, NEW.through FROM erasure WHERE erasure = NEW.erasure;
END;
CREATE TRIGGER events_of_contact_erased AFTER INSERT ON erased_contact BEGIN
  INSERT INTO owner_change (account, what, contact)
  SELECT account, 'contact erased', NEW.contact FROM erasure WHERE erasure = NEW.erasure;
END;
