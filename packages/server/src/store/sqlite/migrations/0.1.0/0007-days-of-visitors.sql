-- On which days a user or contact has events (active-days.ts); 0 where that is not known: in rows older than this column.
ALTER TABLE user ADD COLUMN days INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contact ADD COLUMN days INTEGER NOT NULL DEFAULT 0;
