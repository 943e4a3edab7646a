-- Erased contacts whose links, claims and requests still name them: these are taken away some at a time. Reads compute what will
-- be left of them. The row of such a contact is empty, and merged into itself, so that no list and no count includes it.
CREATE TABLE erasing_contact (
  contact INTEGER PRIMARY KEY REFERENCES contact,
  erasure INTEGER NOT NULL REFERENCES erasure,
  through INTEGER NOT NULL -- the last sequence that the erasure takes
) STRICT;
