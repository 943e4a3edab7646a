-- An erasure may leave what was the contact's by claims only.
ALTER TABLE erasure ADD COLUMN "verifiedOnly" boolean NOT NULL DEFAULT false;
