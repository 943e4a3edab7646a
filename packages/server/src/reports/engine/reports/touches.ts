/** Finds contacts' first and last touches: the first and last values in their events. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { referrerAttrID } from '../../attributes.ts';
import type { TouchesQuery, TouchesResult } from '../../queries.ts';
import type { Source } from '../source.ts';
import { clause, list, name, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { createScopeOfAll } from './first-touch.ts';
import { referrerHostOf } from './host.ts';
import { writeListedPeople } from './listed-people.ts';

export const computeTouches = async (
  connection: DuckDBConnection,
  source: Source,
  query: TouchesQuery,
): Promise<TouchesResult> => {
  const { contacts, attributes, own } = query;
  const scope = await createScopeOfAll(connection, await writeListedPeople(connection, source, contacts), query);
  scope.add('time', sql`"eventTime"`);
  scope.add('place', scope.place);
  for (const [nth, attrID] of attributes.entries()) scope.add(`a${nth}`, scope.text(attrID));
  const referrer = scope.text(referrerAttrID);
  scope.add('referrer', referrer);
  scope.add('host', referrerHostOf(referrer, own));
  const values = attributes.flatMap((_, nth) => [
    clause`arg_min(${name(`a${nth}`)}, place) AS ${name(`first${nth}`)}`,
    clause`arg_max(${name(`a${nth}`)}, place) AS ${name(`last${nth}`)}`,
  ]);
  const rows = await run(
    connection,
    sql`SELECT person, min(time) AS first, max(time) AS last, ${referrerHostOf(sql`arg_min(referrer, place)`, own)} AS "firstHost",
        arg_max(host, place) AS "lastHost", ${list(values)}
      FROM ${scope.rows()} WHERE person IN (SELECT person FROM listed) GROUP BY person ORDER BY person`,
  );
  return {
    people: rows.map((row) => {
      const touch = (which: 'first' | 'last') => ({
        time: Number(row[which]),
        values: attributes.map((_, nth) => row[`${which}${nth}`] as string | null),
        referrerHost: row[`${which}Host`] as string | null,
      });
      return { person: Number(row.person), first: touch('first'), last: touch('last') };
    }),
  };
};
