-- An erasure may leave what was the contact's by claims only; one that a backup has undone is carried out again in the same way.
ALTER TABLE erasure ADD COLUMN verifiedOnly INTEGER NOT NULL DEFAULT 0;
