-- On which days a user has events, and not only between which: see active-days.ts. 0 where that is not told, of before this.
ALTER TABLE user ADD COLUMN days INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contact ADD COLUMN days INTEGER NOT NULL DEFAULT 0;
