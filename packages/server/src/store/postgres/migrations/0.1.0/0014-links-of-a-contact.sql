-- Links to a contact, in their order: beyond a limit the oldest that only claims made give way (limits.claimedLinksPerContact).
CREATE INDEX statement_by_contact ON statement (contact, sequence) WHERE contact IS NOT NULL;
