-- What a segment's blocks hold, so that a read passes over those that it needs not look at. A segment that is older than this
-- has no summary at first: its blocks are read until it has one.
CREATE TABLE segment_summary (
  segment INTEGER PRIMARY KEY, -- written last: what the tables below say of the segment is whole
  slices INTEGER NOT NULL,     -- bits of a block's signature: see signature.ts
  blocks BLOB NOT NULL         -- where each block is, and when its events happened: see summary-draft.ts
) STRICT;

-- The signatures, bit by bit: of each bit, in which blocks it is set. A slice without any is not there.
CREATE TABLE segment_slice (
  segment INTEGER NOT NULL,
  slice INTEGER NOT NULL,
  blocks BLOB NOT NULL, -- the first block is the lowest bit of the first byte
  PRIMARY KEY (segment, slice)
) STRICT, WITHOUT ROWID;

-- Whose events of a kind are in a segment, and in which quarters of an hour they happened: see visitor-list.ts.
CREATE TABLE segment_visitors (
  segment INTEGER NOT NULL,
  account INTEGER NOT NULL,
  eventID INTEGER NOT NULL,
  visitors BLOB NOT NULL,
  PRIMARY KEY (segment, account, eventID)
) STRICT, WITHOUT ROWID;
