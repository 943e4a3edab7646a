-- A token may only read (kind `viewer`), may expire, knows which token made it, and to the hour when it was last used.
ALTER TABLE token
  DROP CONSTRAINT token_kind_check,
  ADD CONSTRAINT token_kind_check CHECK (kind IN ('browser', 'viewer', 'server', 'operator')),
  ADD "createdBy" integer CHECK ("createdBy" < token), -- NULL: the command line
  ADD "expiresTime" bigint,
  ADD "lastUsedTime" bigint; -- the beginning of the hour
CREATE INDEX token_by_maker ON token ("createdBy") WHERE "createdBy" IS NOT NULL;
