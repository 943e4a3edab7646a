-- What an account stores, in bytes, is estimated from counts (store/row-bytes.ts) and from these.
ALTER TABLE account_day ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of the day's events
-- Earlier events were not measured: an ordinary one takes this much.
UPDATE account_day SET bytes = count * 250;
CREATE INDEX claim_by_account ON claim (account);
