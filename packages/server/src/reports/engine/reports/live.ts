/** Runs the live report, which counts the people in a short range by the values in their newest events. */

import type { DuckDBConnection } from '@duckdb/node-api';
import { labelIDs } from '@firsthand/contract/labels';
import { pathAttrID, referrerAttrID } from '../../attributes.ts';
import type { LiveQuery, LiveResult } from '../../queries.ts';
import type { Source } from '../source.ts';
import { name, sql } from '../sql.ts';
import { run } from '../statements.ts';
import { referrerHostOf } from './host.ts';
import { createScope } from './scope.ts';

export const computeLive = async (
  connection: DuckDBConnection,
  source: Source,
  query: LiveQuery,
): Promise<LiveResult> => {
  const { limit, own } = query;
  const scope = createScope(source, query);
  scope.add('place', scope.place);
  scope.add('page', scope.text(pathAttrID));
  scope.add('host', referrerHostOf(scope.text(referrerAttrID), own));
  scope.add('country', scope.text(labelIDs.country));
  const rows = scope.rows({ where: scope.matched });
  await run(connection, sql`CREATE TEMP TABLE now AS SELECT visitor, person, place, page, host, country FROM ${rows}`);
  const [totals] = await run(
    connection,
    sql`SELECT count(*) AS events, count(DISTINCT visitor) FILTER (WHERE visitor > 0) AS users, count(DISTINCT person) AS people FROM now`,
  );
  const people = Number(totals?.people);
  const computeList = async (attribute: 'page' | 'host' | 'country') => {
    const column = name(attribute);
    const newest = await run(
      connection,
      sql`WITH newest AS (
          SELECT person, arg_max(${column}, place) FILTER (WHERE ${column} IS NOT NULL) AS value FROM now GROUP BY person
        )
        SELECT value, count(*) AS people FROM newest GROUP BY value
        ORDER BY people DESC, value ASC NULLS LAST LIMIT ${limit}`,
    );
    const rows = newest.map((row) => ({ value: row.value as string | null, people: Number(row.people) }));
    return { rows, others: rows.reduce((rest, row) => rest - row.people, people) };
  };
  return {
    events: Number(totals?.events),
    users: Number(totals?.users),
    people,
    page: await computeList('page'),
    referrerHost: await computeList('host'),
    country: await computeList('country'),
  };
};
