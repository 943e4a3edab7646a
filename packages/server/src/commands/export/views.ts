/** DuckDB views over the files of an incremental export. */
import { unlistedNameID } from '@firsthand/contract/labels';
import { firstUnlistedID } from '../../store/rules/accounts/unlisted-names.ts';

export const viewsName = 'views.sql';

export const viewsSQL = `-- Views over this export for DuckDB, with the current owners of events. Run this file in its folder, or after
-- SET file_search_path = '/path/of/the/folder'. Each export rewrites it.
CREATE OR REPLACE VIEW owners AS SELECT * FROM 'owners.parquet';
CREATE OR REPLACE VIEW links AS SELECT * FROM 'links.parquet';
CREATE OR REPLACE VIEW contacts AS SELECT * FROM 'contacts.parquet';
CREATE OR REPLACE VIEW merged_contacts AS SELECT * FROM 'merged_contacts.parquet';
CREATE OR REPLACE VIEW event_names AS SELECT * FROM 'event_names.parquet';

CREATE OR REPLACE VIEW events AS
SELECT
  e.day, e.sequence, e.eventUUID, e.eventID,
  -- The name of an event that is not in the catalogue is an attribute, if it has a name.
  coalesce(
    n.eventName,
    CASE WHEN e.eventID >= ${firstUnlistedID} THEN e.attributes['${unlistedNameID}'] END,
    e.eventID::VARCHAR
  ) AS eventName,
  e.eventTime, e.receivedTime, e.userUUID,
  -- The contact that the event was logged with, or the owner of this part of the user's history, after merges.
  coalesce(m.ownerUUID, e.loggedContactUUID, o.contactUUID) AS contactUUID,
  e.attributes
FROM read_parquet('events/*/*.parquet', hive_partitioning = true) e
LEFT JOIN owners o
  ON o.userUUID = e.userUUID AND o.afterSequence < e.sequence
  AND coalesce(o.throughSequence, 9223372036854775807) >= e.sequence
LEFT JOIN merged_contacts m ON m.contactUUID = coalesce(e.loggedContactUUID, o.contactUUID)
LEFT JOIN event_names n ON n.eventID = e.eventID;
`;
