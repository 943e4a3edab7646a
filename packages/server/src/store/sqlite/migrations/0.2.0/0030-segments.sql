-- Filters of reports that are saved under a name. Not related to event_segment, which is a part of the event log.
CREATE TABLE report_segment (
  account INTEGER NOT NULL REFERENCES account,
  segmentName TEXT NOT NULL,
  filter TEXT NOT NULL, -- JSON, at most 16 KiB
  createdTime INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL,
  PRIMARY KEY (account, segmentName)
) STRICT, WITHOUT ROWID;
