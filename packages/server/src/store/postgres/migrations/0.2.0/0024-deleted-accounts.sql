-- Accounts that are being deleted: their entries leave the audit log, which takes no other deletion.
CREATE TABLE account_deletion (
  account integer PRIMARY KEY REFERENCES account,
  "beganTime" bigint NOT NULL
);

DROP TRIGGER audit_unchanged ON audit;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE FUNCTION refuse_audit_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM account_deletion d WHERE d.account = OLD.account) THEN
      RAISE EXCEPTION 'the audit log is append-only';
    END IF;
    RETURN OLD;
  END $$;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_deletion();
