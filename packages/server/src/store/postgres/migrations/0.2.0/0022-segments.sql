-- Filters of reports that are saved under a name.
CREATE TABLE report_segment (
  account integer NOT NULL,
  "segmentName" text COLLATE "C" NOT NULL,
  filter text NOT NULL, -- JSON, at most 16 KiB
  "createdTime" bigint NOT NULL,
  "updatedTime" bigint NOT NULL,
  PRIMARY KEY (account, "segmentName")
);
