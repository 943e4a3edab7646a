-- A contact may have the customer's own ID, and then no e-mail address. No row is rewritten: the rows of a nullable column look the
-- same, and a new column is absent from the rows written before.
ALTER TABLE contact ALTER COLUMN contactEmailaddress DROP NOT NULL;
ALTER TABLE contact ADD COLUMN contactExternalID TEXT; -- NULL: never said; '': cleared on purpose
-- Who said the external ID. NULL: a server token, or a contactProof; 0: only browser tokens; else the accepted claim that it is from.
ALTER TABLE contact ADD COLUMN externalIDClaim INTEGER;
CREATE UNIQUE INDEX contact_external_id ON contact (account, contactExternalID) WHERE contactExternalID > '';
ALTER TABLE erasing_contact ADD COLUMN contactExternalID TEXT;
