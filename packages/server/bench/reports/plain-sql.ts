/**
 * Parts of the SQL that an analyst would write for the same queries, for DuckDB and PostgreSQL. Both have a table
 * `events` with a column per attribute, a table `owners` with the owner of each part of a user's history, and two
 * functions that hide the differences between the two databases.
 */
import { firstTime } from '../synthetic-feed.ts';

/**
 * `part_of`: the index, from 0, of the interval that contains a time; the first interval begins with the first event.
 * `host_of`: a URL's host.
 */
export const functions = {
  duckDB: `CREATE MACRO part_of(moment, milliseconds) AS (moment - ${firstTime}) // milliseconds;
    CREATE MACRO host_of(url) AS regexp_extract(url, '^[a-z]+://([^/?#:]+)', 1);`,
  postgres: `CREATE FUNCTION part_of(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ($1 - ${firstTime}) / $2;
    CREATE FUNCTION host_of(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN substring($1 from '^[a-z]+://([^/?#:]+)');`,
};

/**
 * A query for the events in a range, except those from bots, with their person: a contact if positive, a user if
 * negative.
 */
export const writeOwnedEvents = (from: number, to: number, columns: readonly string[]): string =>
  `SELECT e.user_id, e.sequence, e.event_time, ${columns.map((column) => `e.${column}, `).join('')}coalesce(o.contact, -e.user_id) AS person
    FROM events e LEFT JOIN owners o ON o.user_id = e.user_id AND o.after < e.sequence AND e.sequence <= o.through
    WHERE e.event_time >= ${from} AND e.event_time < ${to} AND NOT e.robot`;

/** Tables for a WITH clause: `owned`, and `hits`, which numbers each user's sessions. */
export const writeSessionTables = (owned: string): string => `owned AS (${owned}),
  marked AS (
    SELECT *, coalesce(event_time - lag(event_time) OVER (PARTITION BY user_id ORDER BY event_time, sequence) >= 1800000, true) AS begins
    FROM owned
  ),
  hits AS (SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY user_id ORDER BY event_time, sequence) AS session FROM marked)`;

/** The measures over rows of `hits`. */
export const measures = `count(*) AS events, count(DISTINCT user_id) AS users, count(DISTINCT person) AS people,
  count(DISTINCT user_id * 1000000 + session) AS sessions`;

/**
 * Tables for a WITH clause, after `owned`. For each event, `passed` has the latest earlier time of the person's first
 * step, and the latest such time from which the second step was reached in time.
 */
export const writeFunnelTables = ([first, second]: readonly number[], withinMilliseconds: number): string => {
  const before =
    'OVER (PARTITION BY person ORDER BY event_time, sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)';
  return `begun AS (SELECT *, max(CASE WHEN event_id = ${first} THEN event_time END) ${before} AS first_time FROM owned),
    passed AS (
      SELECT *, max(CASE WHEN event_id = ${second} AND event_time - first_time <= ${withinMilliseconds} THEN first_time END) ${before} AS second_time
      FROM begun
    )`;
};
