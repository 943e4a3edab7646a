-- A token may be an agent's: it reads counts.
ALTER TABLE token
  DROP CONSTRAINT token_kind_check,
  ADD CONSTRAINT token_kind_check CHECK (kind IN ('browser', 'agent', 'viewer', 'editor', 'server', 'operator'));
