-- Who did what to whom, and when: written in the transaction of what it records, never changed, kept through erasures.
CREATE TABLE audit (
  audit bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  account integer REFERENCES account, -- NULL: of the service itself
  token integer REFERENCES token,     -- who; NULL: the command line
  action text NOT NULL,
  subject text NOT NULL, -- JSON; no personal data beyond a contactUUID
  time bigint NOT NULL
);
CREATE INDEX audit_by_account ON audit (account, audit);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
