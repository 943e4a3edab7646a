-- Accounts that are being deleted: their entries leave the audit log, which takes no other deletion.
CREATE TABLE account_deletion (
  account INTEGER PRIMARY KEY REFERENCES account,
  beganTime INTEGER NOT NULL
) STRICT;

DROP TRIGGER audit_kept;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM account_deletion d WHERE d.account = OLD.account)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- The greatest numbers of deleted accounts and tokens: no later one gets such a number.
ALTER TABLE position ADD COLUMN lastAccount INTEGER NOT NULL DEFAULT 0;
ALTER TABLE position ADD COLUMN lastToken INTEGER NOT NULL DEFAULT 0;
