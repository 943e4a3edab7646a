/** The reports that searchContact uses: the contacts in a segment, and contacts' first and last touches. */
import { touchAttributes } from '@firsthand/contract/contact';
import type { OutputOf } from '@firsthand/contract/operations';
import type { TouchesResult } from '../../../reports/queries.ts';
import { accountOf, type Caller } from '../../access/caller.ts';
import { parsePeopleCursor, toPeopleCursor } from '../../responses/cursor.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { conditionOf, maxTime, mergedIDsIn } from './conditions.ts';
import { filtersOf, replaceSegments } from './filters.ts';
import type { NameStore, ResolveNames } from './name-resolution.ts';
import { ownSitesOf } from './own-sites.ts';
import type { ReportRunner } from './run-report.ts';

type FoundContact = OutputOf<'searchContact'>['contact'][number];
type Touches = Pick<FoundContact, 'firstTouch' | 'lastTouch'>;

const toTouch = ({ time, values, referrerHost }: TouchesResult['people'][number]['first']) =>
  ({
    eventTime: isoTime(time),
    ...Object.fromEntries(touchAttributes.map((attrID, nth) => [attrID, values[nth] ?? ''])),
    referrerHost: referrerHost ?? '',
  }) as FoundContact['firstTouch'];

export const createContactReports = (
  store: NameStore,
  { run }: Pick<ReportRunner, 'run'>,
  resolveNames: ResolveNames,
) => ({
  /**
   * Reads a page of the contacts with an event that matches a segment, newest event first. Returns their row numbers,
   * and `nextCursorAt`, which returns the cursor of a page that starts at an index in `contacts`.
   */
  async readSegment(
    {
      segment,
      limit,
      cursor,
    }: { readonly segment: string; readonly limit: number; readonly cursor: string | undefined },
    caller: Caller,
  ): Promise<{ readonly contacts: number[]; readonly nextCursorAt: (place: number) => string }> {
    const account = accountOf(caller);
    const page = parsePeopleCursor(cursor);
    const firstPageTime = page?.firstPageTime ?? caller.time;
    const { filter } = await replaceSegments(store, account, { filter: { segment } });
    const names = await resolveNames(
      account,
      { filters: filtersOf({ filter }) },
      { now: firstPageTime, reader: caller },
    );
    const { result, through } = await run(
      {
        report: 'people',
        account,
        from: 0,
        to: maxTime,
        robots: false,
        condition: conditionOf({ filter }, names),
        ...mergedIDsIn(names),
        of: { kind: 'all' },
        usersAtLeast: 0,
        limit,
        beyond: page?.end ?? null,
        until: page?.until ?? null,
      },
      caller,
    );
    const until = page?.until ?? through;
    const contacts = result.people.filter(({ person }) => person > 0);
    return {
      contacts: contacts.map(({ person }) => person),
      nextCursorAt: (place) => {
        const next = contacts[place];
        const last = contacts[place - 1];
        const end = next && last ? { key: last.lastTime, person: last.person } : result.next;
        return toPeopleCursor(end && { end, until, firstPageTime });
      },
    };
  },

  /** Reads the touches of at most 1,000 contacts. Returns them by the contact's row number. */
  async readTouches(
    contacts: readonly { readonly contact: number }[],
    caller: Caller,
  ): Promise<ReadonlyMap<number, Touches>> {
    if (contacts.length === 0) return new Map();
    const account = accountOf(caller);
    const names = await resolveNames(account, { filters: [] }, { now: caller.time, reader: caller });
    const { result } = await run(
      {
        report: 'touches',
        account,
        from: 0,
        to: maxTime,
        robots: false,
        condition: null,
        ...mergedIDsIn(names),
        contacts: contacts.map(({ contact }) => contact),
        attributes: touchAttributes,
        own: ownSitesOf(caller.access.accountOrigin),
      },
      caller,
    );
    return new Map(
      result.people.map(({ person, first, last }) => [
        person,
        { firstTouch: toTouch(first), lastTouch: toTouch(last) },
      ]),
    );
  },
});
export type ContactReports = ReturnType<typeof createContactReports>;
