-- What an account stores, in bytes, is estimated from counts (store/row-bytes.ts) and from these.
ALTER TABLE account_day ADD COLUMN bytes bigint NOT NULL DEFAULT 0; -- of the events that were kept; deletion leaves it as it is
-- Earlier events were not measured: an ordinary one takes this much.
UPDATE account_day SET bytes = count * 250 WHERE count > 0;
CREATE INDEX claim_by_account ON claim (account);
