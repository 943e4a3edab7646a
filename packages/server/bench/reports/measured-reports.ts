/** The reports to measure. */
import { priceEventID, purchaseEventID, viewEventID } from '../synthetic-feed.ts';
import { writeFunnelTables, writeSessionTables } from './plain-sql.ts';
import {
  bestCustomers,
  breakdown,
  breakdownBy,
  breakdownOverTime,
  createReport,
  from,
  live,
  type MeasuredReport,
  people,
  queryBase,
  retention,
  stepEventIDs,
  steps,
  to,
  totals,
  visits,
  week,
  writeMonthEvents,
} from './report-forms.ts';

const entryPageTables = `${writeSessionTables(writeMonthEvents('path'))},
  entries AS (
    SELECT DISTINCT ON (user_id, session) user_id, session, path AS entry FROM hits WHERE path IS NOT NULL
    ORDER BY user_id, session, event_time, sequence
  ),
  paged AS (SELECT h.user_id, h.session, h.person, entry FROM hits h LEFT JOIN entries n ON n.user_id = h.user_id AND n.session = h.session)`;

const firstTouchTables = `${writeSessionTables(writeMonthEvents('campaign'))},
  firsts AS (SELECT DISTINCT ON (person) person, campaign AS first FROM hits WHERE campaign IS NOT NULL ORDER BY person, event_time, sequence),
  touched AS (SELECT h.*, first FROM hits h LEFT JOIN firsts USING (person))`;

/**
 * The reports on an account with the given number of contacts. Every second contact is in the table `chosen`, and one
 * report has a condition with the same contacts.
 */
export const createMeasuredReports = (contacts: number) => {
  const chosen = Float64Array.from({ length: Math.floor(contacts / 2) }, (_, nth) => 2 * (nth + 1));
  const purchases = 5;
  const now = live();
  const reports: readonly MeasuredReport[] = [
    totals('totals by day', null, writeMonthEvents()),
    totals(
      'totals by day, half of the contacts',
      { contacts: chosen },
      writeMonthEvents(),
      'WHERE person IN (SELECT contact FROM chosen)',
    ),
    totals(
      'totals by day, people who bought 5 times',
      { did: { eventIDs: [purchaseEventID] }, atLeast: purchases, atMost: null, from, to },
      writeMonthEvents('event_id'),
      `WHERE person IN (SELECT person FROM owned WHERE event_id = ${purchaseEventID} GROUP BY person HAVING count(*) >= ${purchases})`,
    ),
    breakdown(['browser'], ['browser']),
    breakdown(['path'], ['path']),
    breakdown(['browser', 'campaign'], ['browser', 'campaign'], ['browser', "coalesce(campaign, '')"]),
    breakdownBy('entry page', [{ attrID: 'path', of: 'first' }], ["coalesce(entry, '')"], {
      sources: entryPageTables,
      rows: 'paged',
      grouped: 'paged',
    }),
    breakdownBy('first campaign of the person', [{ attrID: 'campaign', of: 'personFirst' }], ["coalesce(first, '')"], {
      sources: firstTouchTables,
      rows: 'touched',
      grouped: 'touched',
    }),
    breakdownOverTime('browser', 'browser'),
    visits(),
    createReport(
      'funnel of three steps',
      900,
      { ...queryBase, report: 'funnel', steps, withinMilliseconds: week, per: 'person' },
      `WITH owned AS (${writeMonthEvents('event_id')}), ${writeFunnelTables(stepEventIDs, week)}
        SELECT count(DISTINCT person) FILTER (WHERE event_id = ${viewEventID}),
          count(DISTINCT person) FILTER (WHERE event_id = ${priceEventID} AND event_time - first_time <= ${week}),
          count(DISTINCT person) FILTER (WHERE event_id = ${purchaseEventID} AND event_time - second_time <= ${week}) FROM passed`,
      (result) => [result.steps],
    ),
    retention(
      'retention by week',
      { first: null, back: null },
      `WITH owned AS (${writeMonthEvents()}),
        weeks AS (SELECT person, part_of(event_time, ${week}) AS week, count(*) AS events FROM owned GROUP BY person, week),
        cohorts AS (SELECT person, min(week) AS cohort FROM weeks GROUP BY person)
        SELECT cohort, week, count(*) FILTER (WHERE week = cohort), count(*) FILTER (WHERE week > cohort OR events > 1)
        FROM weeks JOIN cohorts USING (person) GROUP BY cohort, week`,
    ),
    retention(
      'retention by week, purchase after page view',
      { first: { eventIDs: [viewEventID] }, back: { eventIDs: [purchaseEventID] } },
      `WITH owned AS (${writeMonthEvents('event_id')}),
        begun AS (
          SELECT DISTINCT ON (person) person, event_time, sequence, part_of(event_time, ${week}) AS cohort FROM owned
          WHERE event_id = ${viewEventID} ORDER BY person, event_time, sequence
        ),
        back AS (
          SELECT cohort, part_of(o.event_time, ${week}) AS week, count(DISTINCT person) AS people FROM owned o JOIN begun b USING (person)
          WHERE event_id = ${purchaseEventID} AND (o.event_time, o.sequence) > (b.event_time, b.sequence) GROUP BY cohort, week
        ),
        first AS (SELECT cohort, cohort AS week, count(*) AS people FROM begun GROUP BY cohort)
        SELECT cohort, week, coalesce(first.people, 0), coalesce(back.people, 0) FROM first FULL JOIN back USING (cohort, week)`,
    ),
    bestCustomers(),
    people('people in the month', { of: { kind: 'all' } }, `owned AS (${writeMonthEvents()})`),
    people(
      'people who viewed a price and did not buy',
      { of: { kind: 'step', step: 1, dropped: true, steps, withinMilliseconds: week, per: 'person' } },
      `owned AS (${writeMonthEvents('event_id')}), ${writeFunnelTables(stepEventIDs, week)},
        reached AS (
          SELECT person, bool_or(event_id = ${priceEventID} AND event_time - first_time <= ${week}) AS second,
            bool_or(event_id = ${purchaseEventID} AND event_time - second_time <= ${week}) AS third
          FROM passed GROUP BY person
        )`,
      'WHERE person IN (SELECT person FROM reached WHERE second AND NOT coalesce(third, false))',
    ),
    now,
  ];
  return { reports, quickest: now.query, chosen };
};
