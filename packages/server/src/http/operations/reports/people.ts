/** reportPeople: who is behind a number of a report. */
import { limits } from '@firsthand/contract/limits';
import type { AnswerOf, InputOf } from '@firsthand/contract/operations';
import { type DimensionText, funnelSeconds } from '@firsthand/contract/reports/report';
import type { PeopleOf } from '../../../reports/questions.ts';
import type { PeopleNames } from '../../../store/report-feed.ts';
import type { Store } from '../../../store/store.ts';
import { type Answering, accountOf } from '../../access/caller.ts';
import { parsePeopleCursor, toCursor, toPeopleCursor } from '../../answers/cursor.ts';
import { isoTime } from '../../answers/iso-time.ts';
import type { Ask } from './asking.ts';
import { conditionOf, type Meanings, toCondition, unitedIn } from './conditions.ts';
import { type Surroundings, toGrouping } from './dimensions.ts';
import { filtersOf, replaceSegments, type WithoutSegments } from './filters.ts';
import type { FindMeanings, Known } from './meanings.ts';
import { ownSitesOf } from './own-sites.ts';
import { edgesWithin, type Range, rangesOf } from './ranges.ts';

type Input = WithoutSegments<InputOf<'reportPeople'>>;

/** Which of the numbers of a report a checked request means. */
const meantBy = (input: Input, range: Range, meanings: Meanings & Surroundings): PeopleOf => {
  const { by, value = [], step, cohort } = input;
  const group = by && {
    ...toGrouping(by, range, meanings),
    // The row may be of a report that was asked before a merge.
    values: value.map((one, index) => (one && meanings.merges.get(by[index] as DimensionText)?.keptOf(one)) ?? one),
  };
  if (step) {
    const { within = funnelSeconds, per = 'person', reached, dropped } = input;
    return {
      kind: 'step',
      steps: step.map((one) => toCondition(one, meanings)),
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
    first: first ? toCondition(first, meanings) : null,
    back: back ? toCondition(back, meanings) : null,
    edges: edgesWithin(range, interval, meanings.zone, limits.periodsPerRetention),
    cohort: cohort - 1,
    later,
    ...(group && { group }),
  };
};

type Named = Omit<AnswerOf<'reportPeople'>['person'][number], 'events' | 'users' | 'value' | 'firstTime' | 'lastTime'>;

const noFields = { contactExternalID: '', contactFirstname: '', contactLastname: '', contactEmailaddress: '' };

/** How people are named, by their numbers. */
const namesOf = ({ users, contacts }: PeopleNames) =>
  new Map<number, Named>([
    ...users.map(({ user, userUUID }) => [-user, { contactUUID: '', ...noFields, userUUID }] as const),
    ...contacts.map(({ contact, contactUUID, fields }) => {
      const { contactExternalID, contactFirstname, contactLastname, contactEmailaddress } = fields;
      const named = { contactExternalID, contactFirstname, contactLastname, contactEmailaddress };
      return [contact, { contactUUID, ...named, userUUID: '' }] as const;
    }),
  ]);

export const createPeopleAnswer = (
  store: Known & Pick<Store, 'namePeople'>,
  { ask }: Pick<Ask, 'ask'>,
  findMeanings: FindMeanings,
): Answering<'reportPeople'> => {
  return async (sent, caller) => {
    const began = performance.now();
    const account = accountOf(caller);
    const zone = sent.timezone ?? caller.access.accountTimezone;
    const page = parsePeopleCursor(sent.cursor);
    const asked = page?.asked ?? caller.time;
    const { range } = rangesOf(sent, zone, asked);
    const input = await replaceSegments(store, account, sent);
    const meanings = await findMeanings(
      account,
      { ...input, filters: filtersOf(input) },
      { now: asked, reader: caller },
    );
    const { answer, through } = await ask(
      {
        report: 'people',
        account,
        ...range,
        robots: input.robots === 'include',
        condition: conditionOf(input, meanings),
        ...unitedIn(meanings),
        of: meantBy(input, range, { ...meanings, zone, own: ownSitesOf(caller.access.accountOrigin) }),
        usersAtLeast: input.usersAtLeast ?? 0,
        ...(input.attrID !== undefined && { value: input.attrID }),
        ...(input.sort && { sort: input.sort }),
        limit: input.limit ?? 100,
        beyond: page?.end ?? null,
        until: page?.until ?? null,
      },
      caller,
    );
    const numbers = answer.people.map(({ person }) => person);
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
      // Somebody who was erased after the report was asked has no name.
      person: answer.people.flatMap(({ person, firstTime, lastTime, ...counts }) => {
        const named = names.get(person);
        return named ? [{ ...named, ...counts, firstTime: isoTime(firstTime), lastTime: isoTime(lastTime) }] : [];
      }),
      nextCursor: toPeopleCursor(answer.next && { end: answer.next, until, asked }),
      timezone: zone,
      through: toCursor('events', until),
      milliseconds: Math.round(performance.now() - began),
    };
  };
};
