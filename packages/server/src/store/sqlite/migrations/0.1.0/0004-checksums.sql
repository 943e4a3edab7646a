-- SQLite has no checksums: damage that leaves a page well-formed would be read as events that nobody has sent.
ALTER TABLE event_block ADD COLUMN checksum INTEGER; -- CRC-32 of events, begun with through; NULL when written before this
