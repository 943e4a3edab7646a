/**
 * Compares the segments that webhooks send with their stored members, in the background of a server. Each comparison
 * runs the report of people. Its differences are stored as facts, from which the deliveries send messages.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '@firsthand/contract/limits';
import type { AudienceProblem } from '@firsthand/contract/webhook';
import type { Logger } from 'pino';
import type { Reports } from '../../reports/queries.ts';
import { Refusal } from '../../shared/refusal.ts';
import { repeat } from '../../shared/repeat.ts';
import type { DueAudience, Store } from '../../store/store.ts';
import { conditionOf, maxTime, mergedIDsIn } from '../operations/reports/conditions.ts';
import { filtersOf, replaceSegments } from '../operations/reports/filters.ts';
import { createNameResolver, type NameStore } from '../operations/reports/name-resolution.ts';
import { type AuthorizedReader, createReportRunner } from '../operations/reports/run-report.ts';

const compareEveryMilliseconds = 5 * 60_000;
/** The pause between checks for audiences that are due. */
const pauseMilliseconds = 5_000;
/** After a comparison, the next one waits as long as it took, up to this time, so that other reports have their turn. */
const maxWaitMilliseconds = 10_000;
/** The number of contacts that enter or leave in one commit. */
const changesPerCommit = 100;

type AudienceStore = NameStore &
  Pick<Store, 'listDueAudiences' | 'claimAudience' | 'listAudienceContacts' | 'changeAudience' | 'recordComparison'>;

export interface AudienceOptions {
  readonly store: AudienceStore;
  readonly reports: Reports | undefined;
  readonly log: Pick<Logger, 'error'>;
  readonly now?: () => number;
}

const problems: Partial<Record<Refusal['code'], AudienceProblem>> = {
  report_too_slow: 'report_too_slow',
  no_reports: 'no_reports',
  invalid_field: 'invalid_segment',
  unknown_segment: 'invalid_segment',
};

/** Returns a function that compares an audience that is due, and stores the differences. */
export const createComparison = ({ store, reports, now = Date.now }: Omit<AudienceOptions, 'log'>) => {
  const runner = createReportRunner(reports);
  const resolveNames = createNameResolver(store, runner);

  /** Returns the numbers of the contacts in a segment, up to one more than the limit. */
  const findContacts = async (account: number, segmentName: string, signal: AbortSignal): Promise<number[]> => {
    const reader: AuthorizedReader = { access: { kind: 'server' }, signalOf: () => signal };
    const input = await replaceSegments(store, account, { filter: { segment: segmentName } });
    const resolved = await resolveNames(account, { filters: filtersOf(input) }, { now: now(), reader });
    const condition = conditionOf(input, resolved);
    const { result } = await runner.run(
      {
        report: 'people',
        account,
        from: -maxTime,
        to: maxTime,
        robots: false,
        condition: { and: [{ contacts: null }, ...(condition ? [condition] : [])] },
        ...mergedIDsIn(resolved),
        of: { kind: 'all' },
        usersAtLeast: 0,
        limit: limits.contactsPerAudience + 1,
        beyond: null,
        until: null,
      },
      reader,
    );
    return result.people.map(({ person }) => person);
  };

  return async ({ account, audience, segmentName, nextTime }: DueAudience, signal: AbortSignal): Promise<void> => {
    const started = now();
    const claim = { account, audience, nextTime, until: started + compareEveryMilliseconds };
    if (!(await store.claimAudience(claim))) return;
    const record = (contacts: number, problem: AudienceProblem | '') =>
      store.recordComparison({ account, audience, contacts, problem, time: now() });
    let contacts: number[];
    try {
      contacts = await findContacts(account, segmentName, signal);
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof Refusal ? problems[error.code] : undefined;
      if (problem === undefined) throw error;
      return record(0, problem);
    }
    if (contacts.length > limits.contactsPerAudience) return record(0, 'too_many_contacts');
    const members = new Set(contacts);
    const before = new Set(await store.listAudienceContacts({ account, audience }));
    const changes = [
      ...[...before].filter((contact) => !members.has(contact)),
      ...contacts.filter((contact) => !before.has(contact)),
    ];
    for (let at = 0; at < changes.length; at += changesPerCommit) {
      if (signal.aborted) return;
      const part = changes.slice(at, at + changesPerCommit);
      const [left, entered] = [true, false].map((isLeft) => part.filter((contact) => before.has(contact) === isLeft));
      const change = { account, audience, entered: entered ?? [], left: left ?? [], time: now() };
      if (!(await store.changeAudience(change))) return;
    }
    await record(contacts.length, '');
  };
};

/** Starts the comparisons, one at a time. Returns a function that stops them. */
export const startAudiences = ({ store, reports, log, now = Date.now }: AudienceOptions): (() => Promise<void>) => {
  const compare = createComparison({ store, reports, now });
  const compareDue = async (signal: AbortSignal) => {
    for (const audience of await store.listDueAudiences({ time: now() })) {
      if (signal.aborted) return;
      const { account, segmentName } = audience;
      const started = performance.now();
      await compare(audience, signal).catch((err) => {
        if (!signal.aborted) log.error({ err, account, segmentName }, 'a segment of a webhook could not be compared');
      });
      const duration = performance.now() - started;
      await wait(Math.min(duration, maxWaitMilliseconds), undefined, { signal, ref: false }).catch(() => {});
    }
  };
  return repeat(async (signal) => {
    await compareDue(signal).catch((err) => log.error({ err }, 'the segments of webhooks could not be read'));
    return pauseMilliseconds;
  });
};
