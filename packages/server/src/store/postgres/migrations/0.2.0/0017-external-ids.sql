-- A contact may have the customer's own ID, and then no e-mail address.
ALTER TABLE contact ALTER COLUMN "contactEmailaddress" DROP NOT NULL;
ALTER TABLE contact ADD COLUMN "contactExternalID" text; -- NULL: never said; '': cleared on purpose
-- Who said the external ID. NULL: a server token, or a contactProof; 0: only browser tokens; else the accepted claim that it is from.
ALTER TABLE contact ADD COLUMN "externalIDClaim" bigint;

CREATE TABLE contact_external_id (
  "contactExternalID" text COLLATE "C" NOT NULL,
  account integer NOT NULL,
  contact bigint NOT NULL,
  "contactUUID" text NOT NULL,
  PRIMARY KEY ("contactExternalID", account)
);
