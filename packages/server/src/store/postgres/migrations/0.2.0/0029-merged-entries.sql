-- Merges of catalogue entries: the ID of the entry that stands for this one. What is stored keeps the ID under which it was sent.
ALTER TABLE catalogue ADD COLUMN "mergedInto" text COLLATE "C"; -- an entry of the same account and kind that is not merged itself
CREATE INDEX catalogue_merged ON catalogue (account) WHERE "mergedInto" IS NOT NULL;
