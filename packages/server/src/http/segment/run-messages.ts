/**
 * Runs the operations for a request's messages in order, so that a contact exists before its events. A refused message
 * is added to the list of refused requests and doesn't fail the other messages, because clients drop a batch after a
 * 4xx response. If the store is unavailable, the request fails: the client retries it, and eventUUIDs and requestUUIDs
 * prevent duplicates.
 */
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import type { InputOf } from '@firsthand/contract/operations';
import { Refusal } from '../../shared/refusal.ts';
import type { NewRefusedRequest, Store } from '../../store/store.ts';
import type { Caller, Handlers } from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';
import { isRefusableCode, refusedBatch, refusedRequest } from '../refused/refused-requests.ts';
import type { Agent } from '../request/agents.ts';
import type { Traffic } from '../traffic.ts';
import { type ContactPutterOptions, createContactPutter, maxConcurrentContacts } from './contacts.ts';
import type { SegmentCall, SegmentProblem } from './messages.ts';

/** Phones send old events after being offline. */
const eventAgeDays = 30;

/** A message's operation, with the visitor's user agent. */
export interface Step {
  readonly call: SegmentCall | SegmentProblem;
  readonly visitor: Agent | undefined;
}

export interface MessageRunnerOptions extends ContactPutterOptions {
  readonly store: ContactPutterOptions['store'] & Pick<Store, 'addRefused'>;
  readonly handlers: Handlers<'logEvents' | 'createContact'>;
  readonly traffic: Traffic;
}

/** Whether the request might succeed if it is retried. */
const isTemporary = (code: Refusal['code']): boolean => statusOf(code) === 429 || statusOf(code) >= 500;

/** Collects the refused messages of a request, and stores them with one call. */
const createRefusedList = ({ store, traffic }: Pick<MessageRunnerOptions, 'store' | 'traffic'>, caller: Caller) => {
  const refused: NewRefusedRequest[] = [];
  return {
    /** Rethrows an error after which the client must retry the whole request. */
    add({ operation, input }: SegmentCall, refusal: unknown): void {
      if (!(refusal instanceof Refusal) || isTemporary(refusal.code)) throw refusal;
      traffic.refuse(refusal.code);
      const { tokenUUID: token, time } = caller;
      if (isRefusableCode(refusal.code)) refused.push(refusedRequest(operation, input, refusal, { token, time }));
    },
    async store(): Promise<void> {
      if (refused.length > 0) await store.addRefused(refusedBatch(caller, refused));
    },
  };
};

const keysOf = ({ userUUID, contactExternalID, contactEmailaddress }: SegmentCall['input']): unknown[] =>
  [userUUID, contactExternalID, contactEmailaddress].filter(Boolean);

/**
 * Yields groups of consecutive steps that can run concurrently: a group has a single operation, no contact twice and,
 * with a browser token, events of a single user.
 */
function* toGroups(steps: readonly Step[], fromBrowser: boolean): Generator<[Step, ...Step[]]> {
  let group: Step[] = [];
  const keys = new Set<unknown>();
  const isOfGroup = ([first]: readonly Step[], { call: { operation, input } }: Step): boolean => {
    if (first?.call.operation !== operation) return false;
    if (operation === 'createContact')
      return group.length < maxConcurrentContacts && !keysOf(input).some((key) => keys.has(key));
    return group.length < limits.eventsPerBatch && (!fromBrowser || first.call.input.userUUID === input.userUUID);
  };
  for (const step of steps) {
    if (group.length > 0 && !isOfGroup(group, step)) {
      yield group as [Step, ...Step[]];
      group = [];
      keys.clear();
    }
    group.push(step);
    for (const key of keysOf(step.call.input)) keys.add(key);
  }
  if (group.length > 0) yield group as [Step, ...Step[]];
}

/**
 * Returns a function that runs the steps of a request. It rejects with a Refusal if the client must retry the request.
 */
export const createMessageRunner = (options: MessageRunnerOptions) => {
  const { handlers, traffic } = options;
  return async (steps: readonly Step[], caller: Caller, sentTime: number | undefined): Promise<void> => {
    const fromBrowser = caller.access.kind === 'browser';
    const refused = createRefusedList(options, caller);
    const contacts = createContactPutter(options, caller);

    const putContact = async ({ call }: Step): Promise<void> => {
      let { input } = call;
      try {
        input = await contacts.withProfile(input);
        await contacts.put(input);
      } catch (error) {
        refused.add({ ...call, input }, error);
      }
    };

    const logEvents = async (group: readonly Step[]): Promise<void> => {
      const findSubject = await contacts.ensure(group.map(({ call }) => call.input));
      const events: InputOf<'logEvents'>['event'] = [];
      const visitors: (Agent | undefined)[] = [];
      for (const { call, visitor } of group) {
        const subject = findSubject(call.input);
        if (subject instanceof Refusal) refused.add(call, subject);
        else {
          events.push({ ...call.input, ...subject });
          visitors.push(visitor);
        }
      }
      if (events.length === 0) return;
      const userUUID = fromBrowser ? group[0]?.call.input.userUUID : undefined;
      const input = { userUUID, sentTime, event: events } as InputOf<'logEvents'>;
      const { event } = await handlers.logEvents(input, { ...caller, visitors, eventAgeDays });
      for (const { error, duplicate } of event) {
        if (error && isTemporary(error.code)) throw refusalOf(error);
        if (error) traffic.refuse(error.code);
        else if (duplicate) traffic.numbers.duplicates += 1;
        else traffic.numbers.kept += 1;
      }
    };

    const accepted = steps.filter(({ call }) => {
      if ('refusal' in call) refused.add(call, call.refusal);
      return !('refusal' in call);
    });
    for (const group of toGroups(accepted, fromBrowser)) {
      if (group[0].call.operation === 'logEvent') await logEvents(group);
      else await Promise.all(group.map(putContact));
    }
    await refused.store();
  };
};
