/**
 * Runs the operations of a request's messages in order, so that a contact exists before its events. A refused message
 * is listed, and the others still run, because clients drop a batch after a 4xx. If the store is unavailable, the
 * request fails: the client repeats it, and the eventUUIDs prevent duplicates.
 */
import { check } from '@firsthand/contract/checking';
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import { type InputOf, operations } from '@firsthand/contract/operations';
import { Refusal } from '../../shared/refusal.ts';
import type { NewRefusedRequest, Store } from '../../store/store.ts';
import { type AnsweringAll, accountOf, type Caller, toStoreCaller } from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';
import { isRefusableCode, refusedBatch, refusedRequest } from '../refused/refused-requests.ts';
import type { Agent } from '../request/agents.ts';
import type { Traffic } from '../traffic.ts';
import type { SegmentCall, SegmentProblem } from './messages.ts';

/** Phones send old events after they were offline. */
const eventAgeDays = 30;
const maxConcurrentContacts = 100;
const defaultProfileID = 'contact';

/** A message's operation, with the visitor's program. */
export interface Step {
  readonly call: SegmentCall | SegmentProblem;
  readonly visitor: Agent | undefined;
}

export interface MessageRunnerOptions {
  readonly store: Pick<Store, 'getContact' | 'listCatalogue' | 'addRefused'>;
  readonly answering: AnsweringAll<'logEvents' | 'createContact'>;
  readonly traffic: Traffic;
}

/** Whether a repeat may succeed. */
const isTemporary = (code: Refusal['code']): boolean => statusOf(code) === 429 || statusOf(code) >= 500;

/**
 * Returns a function that runs the steps of a request. It rejects with a Refusal if the client should repeat the
 * request.
 */
export const createMessageRunner =
  ({ store, answering, traffic }: MessageRunnerOptions) =>
  async (steps: readonly Step[], caller: Caller, sentTime: number | undefined): Promise<void> => {
    const fromBrowser = caller.access.kind === 'browser';
    const refused: NewRefusedRequest[] = [];
    let defaultProfile: Promise<string> | undefined;
    const getDefaultProfile = () => {
      defaultProfile ??= findDefaultProfile();
      return defaultProfile;
    };

    const addRefused = ({ operation, input }: SegmentCall, refusal: Refusal) => {
      if (isTemporary(refusal.code)) throw refusal;
      traffic.refuse(refusal.code);
      const { tokenUUID: token, time } = caller;
      if (isRefusableCode(refusal.code)) refused.push(refusedRequest(operation, input, refusal, { token, time }));
    };

    /** The first profile of the account that this token may use. */
    const findDefaultProfile = async (): Promise<string> => {
      const listed = await store.listCatalogue({ account: accountOf(caller), kind: 'profile' });
      return (
        listed.find(({ browser, mergedInto }) => mergedInto === null && (browser || !fromBrowser))?.id ??
        defaultProfileID
      );
    };

    /** The profile of an existing contact; undefined if there is none. Looks up nothing for a browser token. */
    const findProfile = async (externalID: unknown): Promise<string | undefined> => {
      if (fromBrowser || typeof externalID !== 'string') return undefined;
      try {
        const { fields } = await store.getContact({ ...toStoreCaller(caller), externalID, include: [] });
        return fields.contactProfileID;
      } catch (error) {
        if (error instanceof Refusal && error.code === 'unknown_contact') return undefined;
        throw error;
      }
    };

    /** Calls createContact. A contact that exists keeps its profile. */
    const putContact = async (call: SegmentCall): Promise<void> => {
      let { input } = call;
      try {
        const contactProfileID = (await findProfile(input.contactExternalID)) || (await getDefaultProfile());
        input = { contactProfileID, ...input };
        const checked = check(operations.createContact.input, input);
        if (!checked.ok) throw refusalOf(checked.problem);
        await answering.createContact(checked.value as InputOf<'createContact'>, caller);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        addRefused({ ...call, input }, error);
      }
    };

    /** Creates the contacts that events name, unless they exist. Returns why some can't be. */
    const ensureContacts = async (calls: readonly SegmentCall[]): Promise<Map<unknown, Refusal>> => {
      const refusals = new Map<unknown, Refusal>();
      const ensure = async (contactExternalID: unknown) => {
        try {
          if ((await findProfile(contactExternalID)) !== undefined) return;
          const input = { contactExternalID, contactProfileID: await getDefaultProfile() };
          await answering.createContact(input as InputOf<'createContact'>, caller);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          refusals.set(contactExternalID, error);
        }
      };
      const names = new Set(calls.flatMap(({ input }) => input.contactExternalID ?? []));
      await Promise.all([...names].map(ensure));
      return refusals;
    };

    const logEvents = async (run: readonly Step[]): Promise<void> => {
      const refusals = await ensureContacts(run.map(({ call }) => call));
      const accepted = run.filter(({ call }) => {
        const refusal = refusals.get(call.input.contactExternalID);
        if (refusal) addRefused(call, refusal);
        return refusal === undefined;
      });
      if (accepted.length === 0) return;
      const userUUID = fromBrowser ? accepted[0]?.call.input.userUUID : undefined;
      const input = { userUUID, sentTime, event: accepted.map(({ call }) => call.input) };
      const visitors = accepted.map(({ visitor }) => visitor);
      const { event } = await answering.logEvents(input as InputOf<'logEvents'>, { ...caller, visitors, eventAgeDays });
      for (const { error, duplicate } of event) {
        if (error && isTemporary(error.code)) throw refusalOf(error);
        if (error) traffic.refuse(error.code);
        else if (duplicate) traffic.numbers.duplicates += 1;
        else traffic.numbers.kept += 1;
      }
    };

    const keysOf = ({ userUUID, contactExternalID, contactEmailaddress }: SegmentCall['input']): unknown[] =>
      [userUUID, contactExternalID, contactEmailaddress].filter(Boolean);
    /** Whether a step may run concurrently: same operation, no contact twice and, with a browser token, same user. */
    const isOfRun = (
      run: readonly Step[],
      { call: { operation, input } }: Step,
      keys: ReadonlySet<unknown>,
    ): boolean => {
      const [first] = run;
      if (first === undefined) return true;
      if (first.call.operation !== operation) return false;
      if (operation === 'createContact')
        return run.length < maxConcurrentContacts && !keysOf(input).some((key) => keys.has(key));
      return run.length < limits.eventsPerBatch && (!fromBrowser || first.call.input.userUUID === input.userUUID);
    };

    let run: Step[] = [];
    const keys = new Set<unknown>();
    const flush = async () => {
      const steps = run;
      run = [];
      keys.clear();
      if (steps[0]?.call.operation === 'logEvent') await logEvents(steps);
      else await Promise.all(steps.map(({ call }) => putContact(call)));
    };
    for (const step of steps) {
      if ('refusal' in step.call) addRefused(step.call, step.call.refusal);
      else {
        if (!isOfRun(run, step, keys)) await flush();
        run.push(step);
        for (const key of keysOf(step.call.input)) keys.add(key);
      }
    }
    await flush();
    if (refused.length > 0) await store.addRefused(refusedBatch(caller, refused));
  };
