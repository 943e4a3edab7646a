/** reportLive: counts the people active in the last five minutes. */
import { limits } from '@firsthand/contract/limits';
import type { LiveResult } from '../../../reports/queries.ts';
import { accountOf, type Handler } from '../../access/caller.ts';
import { toCursor } from '../../responses/cursor.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { conditionOf, mergedIDsIn } from './conditions.ts';
import { filtersOf, replaceSegments } from './filters.ts';
import type { NameStore, ResolveNames } from './name-resolution.ts';
import { ownSitesOf } from './own-sites.ts';
import type { ReportRunner } from './run-report.ts';

const minute = 60_000;
const liveMinutes = 5;

const toList = ({ rows, others }: LiveResult['page']) => ({ row: rows.map((row) => ({ ...row })), others });

export const createLiveHandler = (
  store: NameStore,
  { run }: Pick<ReportRunner, 'run'>,
  resolveNames: ResolveNames,
): Handler<'reportLive'> => {
  return async (sent, caller) => {
    const startTime = performance.now();
    const { time, access } = caller;
    const account = accountOf(caller);
    const input = await replaceSegments(store, account, sent);
    const names = await resolveNames(account, { filters: filtersOf(input) }, { now: time, reader: caller });
    const { result, through } = await run(
      {
        report: 'live',
        account,
        from: time - liveMinutes * minute,
        // Included because a browser's clock can be ahead.
        to: time + limits.eventAheadMinutes * minute,
        robots: input.robots === 'include',
        condition: conditionOf(input, names),
        ...mergedIDsIn(names),
        own: ownSitesOf(access.accountOrigin),
        limit: input.limit ?? 10,
      },
      caller,
    );
    const { events, users, people, page, referrerHost, country } = result;
    return {
      from: isoTime(time - liveMinutes * minute),
      to: isoTime(time),
      events,
      users,
      people,
      page: toList(page),
      referrerHost: toList(referrerHost),
      country: toList(country),
      through: toCursor('events', through),
      milliseconds: Math.round(performance.now() - startTime),
    };
  };
};
