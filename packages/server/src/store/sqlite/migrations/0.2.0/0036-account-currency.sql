-- The currency in which pages show the account's revenue, as a code of ISO 4217; '' if none was chosen.
ALTER TABLE account ADD COLUMN accountCurrency TEXT NOT NULL DEFAULT '';
