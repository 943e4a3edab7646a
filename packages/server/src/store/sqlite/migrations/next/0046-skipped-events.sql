-- Events that the retention period deleted before a webhook sent them.
ALTER TABLE webhook ADD COLUMN skippedEvents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook ADD COLUMN skippedFrom INTEGER NOT NULL DEFAULT 0;    -- the first sequence, if there is one
ALTER TABLE webhook ADD COLUMN skippedThrough INTEGER NOT NULL DEFAULT 0; -- the last sequence
