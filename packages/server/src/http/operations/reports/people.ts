/** reportPeople: lists the people behind a number in a report. */
import { limits } from '@firsthand/contract/limits';
import type { InputOf, OutputOf } from '@firsthand/contract/operations';
import { type DimensionText, funnelSeconds } from '@firsthand/contract/reports/report';
import type { PeopleOf } from '../../../reports/queries.ts';
import type { PeopleNames } from '../../../store/report-feed.ts';
import type { Store } from '../../../store/store.ts';
import { accountOf, type Handler } from '../../access/caller.ts';
import { parsePeopleCursor, toCursor, toPeopleCursor } from '../../responses/cursor.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { conditionOf, mergedIDsIn, type ResolvedNames, toCondition } from './conditions.ts';
import { type DimensionContext, toGrouping } from './dimensions.ts';
import { filtersOf, replaceSegments, type WithoutSegments } from './filters.ts';
import { findGoal } from './goals.ts';
import type { NameStore, ResolveNames } from './name-resolution.ts';
import { ownSitesOf } from './own-sites.ts';
import { edgesWithin, type Range, rangesOf } from './ranges.ts';
import type { ReportRunner } from './run-report.ts';

type Input = WithoutSegments<InputOf<'reportPeople'>>;

/** Identifies the number in a report whose people a validated request lists. */
const toPeopleOf = (input: Input, range: Range, context: ResolvedNames & DimensionContext): PeopleOf => {
  const { by, value = [], step, cohort } = input;
  const group = by && {
    ...toGrouping(by, range, context),
    // The row might come from a report that ran before a merge.
    values: value.map((one, index) => (one && context.merges.get(by[index] as DimensionText)?.targetOf(one)) ?? one),
  };
  if (step) {
    const { within = funnelSeconds, per = 'person', reached, dropped } = input;
    return {
      kind: 'step',
      steps: step.map((one) => toCondition(one, context)),
      withinMilliseconds: within * 1_000,
      per,
      step: (reached ?? (dropped as number)) - 1,
      dropped: dropped !== undefined,
      ...(group && { group }),
    };
  }
  if (cohort === undefined) return group ? { kind: 'group', ...group } : { kind: 'all' };
  const { first, back, interval = 'week', later = null } = input;
  return {
    kind: 'cohort',
    first: first ? toCondition(first, context) : null,
    back: back ? toCondition(back, context) : null,
    edges: edgesWithin(range, interval, context.zone, limits.periodsPerRetention),
    cohort: cohort - 1,
    later,
    ...(group && { group }),
  };
};

type PersonNames = Omit<
  OutputOf<'reportPeople'>['person'][number],
  'events' | 'users' | 'value' | 'firstTime' | 'lastTime'
>;

const noFields = { contactExternalID: '', contactFirstname: '', contactLastname: '', contactEmailaddress: '' };

/** Returns people's names by their numbers. */
const namesOf = ({ users, contacts }: PeopleNames) =>
  new Map<number, PersonNames>([
    ...users.map(({ user, userUUID }) => [-user, { contactUUID: '', ...noFields, userUUID }] as const),
    ...contacts.map(({ contact, contactUUID, fields }) => {
      const { contactExternalID, contactFirstname, contactLastname, contactEmailaddress } = fields;
      const names = { contactExternalID, contactFirstname, contactLastname, contactEmailaddress };
      return [contact, { contactUUID, ...names, userUUID: '' }] as const;
    }),
  ]);

export const createPeopleHandler = (
  store: NameStore & Pick<Store, 'namePeople' | 'listGoals'>,
  { run }: Pick<ReportRunner, 'run'>,
  resolveNames: ResolveNames,
): Handler<'reportPeople'> => {
  return async (sent, caller) => {
    const startTime = performance.now();
    const account = accountOf(caller);
    const zone = sent.timezone ?? caller.access.accountTimezone;
    const page = parsePeopleCursor(sent.cursor);
    const firstPageTime = page?.firstPageTime ?? caller.time;
    const { range } = rangesOf(sent, zone, firstPageTime);
    const input = await replaceSegments(store, account, sent);
    const resolved = await resolveNames(
      account,
      { ...input, filters: filtersOf(input) },
      { now: firstPageTime, reader: caller },
    );
    const matched = conditionOf(input, resolved);
    const goal = sent.goalID === undefined ? undefined : await findGoal(store, account, sent.goalID);
    const didGoal = goal && { did: toCondition(goal.filter, resolved), atLeast: 1, atMost: null, ...range };
    const { result, through } = await run(
      {
        report: 'people',
        account,
        ...range,
        robots: input.robots === 'include',
        condition: didGoal && matched ? { and: [matched, didGoal] } : (didGoal ?? matched),
        ...mergedIDsIn(resolved),
        of: toPeopleOf(input, range, { ...resolved, zone, own: ownSitesOf(caller.access.accountOrigin) }),
        usersAtLeast: input.usersAtLeast ?? 0,
        ...(input.attrID !== undefined && { value: input.attrID }),
        ...(input.sort && { sort: input.sort }),
        limit: input.limit ?? 100,
        beyond: page?.end ?? null,
        until: page?.until ?? null,
      },
      caller,
    );
    const numbers = result.people.map(({ person }) => person);
    const names = namesOf(
      await store.namePeople({
        account,
        users: numbers.filter((person) => person < 0).map((person) => -person),
        contacts: numbers.filter((person) => person > 0),
      }),
    );
    const until = page?.until ?? through;
    return {
      from: isoTime(range.from),
      to: isoTime(range.to),
      // A person who was erased after the report ran has no name.
      person: result.people.flatMap(({ person, firstTime, lastTime, ...counts }) => {
        const name = names.get(person);
        return name ? [{ ...name, ...counts, firstTime: isoTime(firstTime), lastTime: isoTime(lastTime) }] : [];
      }),
      nextCursor: toPeopleCursor(result.next && { end: result.next, until, firstPageTime }),
      timezone: zone,
      through: toCursor('events', until),
      milliseconds: Math.round(performance.now() - startTime),
    };
  };
};
