-- Events that the retention period deleted before a webhook sent them.
ALTER TABLE webhook ADD COLUMN "skippedEvents" bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook ADD COLUMN "skippedFrom" bigint NOT NULL DEFAULT 0;    -- the first sequence, if there is one
ALTER TABLE webhook ADD COLUMN "skippedThrough" bigint NOT NULL DEFAULT 0; -- the last sequence
