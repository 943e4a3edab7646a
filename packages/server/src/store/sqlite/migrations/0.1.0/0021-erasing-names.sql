-- Whether claims or requests still name the contact. An erasure is acknowledged when no contact of it has any: what they were
-- called is in the record of erasures then, as keyed hashes.
ALTER TABLE erasing_contact ADD COLUMN hasNames INTEGER NOT NULL DEFAULT 1;
CREATE INDEX erasing_contact_with_names ON erasing_contact (erasure) WHERE hasNames;
