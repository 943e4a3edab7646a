/** Imports of files: creates and lists them, stores their messages, and undoes them. */
import type { Problem } from '@firsthand/contract/answer';
import { check, isRecord } from '@firsthand/contract/checking';
import { batchEvent } from '@firsthand/contract/event';
import { limits } from '@firsthand/contract/limits';
import { type AnswerOf, type InputOf, operations } from '@firsthand/contract/operations';
import { nanoid } from 'nanoid';
import { parseAddress } from '../../identity/email-address.ts';
import { contactValues } from '../../ingest/contact-change.ts';
import { unlikelyTime } from '../../ingest/event-time.ts';
import { newEvent } from '../../ingest/new-event.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Import, ImportOutcome, ImportStep, NewContact, Store } from '../../store/store.ts';
import { type AnsweringAll, accountOf, actOf, type Caller, toStoreCaller } from '../access/caller.ts';
import { isoTime } from '../answers/iso-time.ts';
import { type Agent, toStatedLabels, unknownAgent } from '../request/agents.ts';
import { addressProblem } from '../request/contact-names.ts';
import { findDefaultProfile } from '../segment/contacts.ts';
import { type SegmentCall, type Sender, toCall } from '../segment/messages.ts';
import { createVisitorFinder } from '../segment/routes.ts';
import { createSenders } from '../segment/sender.ts';
import type { Traffic } from '../traffic.ts';
import { withVisitor } from './request-context.ts';

const maxListedRefusals = 20;
const defaultListed = 100;

const importAnswer = ({ createdTime, undoneTime, fingerprint: _, ...rest }: Import) => ({
  ...rest,
  createdTime: isoTime(createdTime),
  ...(undoneTime !== null && { undoneTime: isoTime(undoneTime) }),
});

const isProblem = (step: ImportStep | Problem): step is Problem => 'code' in step;

/** The time of a message that a server has stored before is already corrected. */
const withCorrectedTime = (message: unknown): unknown => {
  if (!isRecord(message) || message.timestamp === undefined) return message;
  const { originalTimestamp: _, ...rest } = message;
  return rest;
};

/** Adds the labels that another tool has found out, unless the User-Agent has them. */
const withStatedLabels = (visitor: Agent = unknownAgent, message: unknown): Agent => {
  const context = isRecord(message) && isRecord(message.context) ? message.context : {};
  if (visitor.robot || !isRecord(context.labels)) return visitor;
  const present = new Set(visitor.labels.map(([attrID]) => attrID));
  const stated = toStatedLabels(context.labels).filter(([attrID]) => !present.has(attrID));
  return { ...visitor, labels: [...visitor.labels, ...stated] };
};

/** Replaces the profile that createContact requires, but imports do not: a contact that exists keeps its own. */
const anyProfileID = 'any';

/** Returns the fields of a contact to create or change, or the problem with them. */
const toContact = (input: SegmentCall['input'], caller: Caller): NewContact | Problem => {
  const checked = check(operations.createContact.input, { contactProfileID: anyProfileID, ...input });
  if (!checked.ok) return checked.problem;
  const {
    userUUID = null,
    contactExternalID: externalID,
    contactEmailaddress,
  } = checked.value as InputOf<'createContact'>;
  const address = contactEmailaddress === undefined ? undefined : parseAddress(contactEmailaddress);
  if (contactEmailaddress !== undefined && address === undefined) return addressProblem('contactEmailaddress');
  const { fields, ...values } = contactValues(checked.value as InputOf<'createContact'>);
  const { contactProfileID: _, ...others } = fields;
  return {
    ...toStoreCaller(caller),
    userUUID,
    externalID,
    address,
    ...values,
    fields: others,
    verified: true,
    requestUUID: null,
    newContactUUID: nanoid(),
    newHandle: nanoid(),
    time: caller.time,
  };
};

export const createImports = (
  store: Pick<
    Store,
    'createImport' | 'addToImport' | 'listImports' | 'undoImport' | 'listCatalogue' | 'getDatabaseKey'
  >,
  {
    traffic,
    countryOf,
  }: { readonly traffic: Traffic; readonly countryOf?: ((address: string) => string | undefined) | undefined },
): AnsweringAll<'createImport' | 'importEvents' | 'listImports' | 'undoImport'> => {
  const findVisitor = createVisitorFinder({ countryOf });
  const senderOf = createSenders(store);

  const toEvent = (input: SegmentCall['input'], message: unknown, caller: Caller): ImportStep | Problem => {
    const checked = check(batchEvent, input);
    if (!checked.ok) return checked.problem;
    const { eventTime } = checked.value;
    const refuse = (message: string): Problem => ({ code: 'invalid_field', field: 'timestamp', message });
    if (eventTime === undefined) return refuse('`timestamp` is required in an import');
    const base = { receivedTime: caller.time, clockError: 0, fromBrowser: false };
    const unlikely = unlikelyTime(eventTime, base);
    if (unlikely !== undefined) return refuse(`\`timestamp\` ${unlikely.split('. ')[0]}`);
    const visitor = withStatedLabels(findVisitor(message, {}, caller), message);
    return { event: newEvent(checked.value, {}, withVisitor(base, visitor, caller)) };
  };

  const toStep = (sent: unknown, sender: Sender, caller: Caller): ImportStep | Problem => {
    const message = withCorrectedTime(sent);
    const call = toCall(message, sender, {}, JSON.stringify(message).length);
    if ('refusal' in call) return call.refusal;
    if (call.operation === 'logEvent' && call.input.contactEmailaddress !== undefined) {
      const message = 'in this account, `userId` is an e-mail address: import such events after you turn that off';
      return { code: 'invalid_field', field: 'userId', message };
    }
    if (call.operation === 'logEvent') return toEvent(call.input, message, caller);
    const contact = toContact(call.input, caller);
    return 'code' in contact ? contact : { contact };
  };

  /** Adds the contacts that events name to the first event that names each. */
  const withContacts = (steps: readonly ImportStep[], caller: Caller): ImportStep[] => {
    const named = new Set<string>();
    return steps.map((step) => {
      const externalID = step.event?.externalID ?? null;
      if (externalID === null || named.has(externalID)) return step;
      named.add(externalID);
      const contact = toContact({ contactExternalID: externalID }, caller);
      return 'code' in contact ? step : { ...step, contact };
    });
  };

  const toAnswer = (
    sent: readonly (ImportStep | Problem)[],
    outcomes: readonly ImportOutcome[],
    position: number,
  ): AnswerOf<'importEvents'> => {
    let next = 0;
    const results = sent.map((each): Problem | 'imported' | 'repeated' => {
      if (isProblem(each)) return each;
      const outcome = outcomes[next++] as ImportOutcome;
      if ('refused' in outcome) return { code: outcome.refused, message: outcome.message, field: outcome.field };
      return outcome.kept ? 'imported' : 'repeated';
    });
    const refusal = results.flatMap((result, index) =>
      typeof result === 'string'
        ? []
        : [
            {
              index,
              error: { code: result.code, message: result.message, ...(result.field && { field: result.field }) },
            },
          ],
    );
    const count = (kind: 'imported' | 'repeated') => results.filter((result) => result === kind).length;
    return {
      position,
      imported: count('imported'),
      repeated: count('repeated'),
      refused: refusal.length,
      refusal: refusal.slice(0, maxListedRefusals),
    };
  };

  /** Throws Refusal('token_kind') for an import of events: only server tokens log events, so only they remove them. */
  const requireContacts = async (importID: string, caller: Caller): Promise<void> => {
    const imports = await store.listImports({ account: accountOf(caller), limit: limits.importsPerAccount });
    if (imports.find((each) => each.importID === importID)?.kind !== 'events') return;
    const message = '`importID` is an import of events, which only a server token or an owner can undo';
    throw new Refusal('token_kind', { field: 'importID', message });
  };

  return {
    createImport: async ({ kind, importName, fingerprint }, caller) => {
      if (kind === 'events' && caller.access.kind !== 'server')
        throw new Refusal('token_kind', { field: 'kind', message: 'only server tokens and owners import events' });
      return importAnswer(
        await store.createImport({ importID: nanoid(), kind, importName, fingerprint, ...actOf(caller) }),
      );
    },

    importEvents: async ({ importID = '', position = 0, message, isLast = false, dryRun = false }, caller) => {
      const sender = await senderOf(caller);
      const sent = message.map((each) => toStep(each, sender, caller));
      const steps = sent.filter((step): step is ImportStep => !isProblem(step));
      if (dryRun)
        return toAnswer(
          sent,
          steps.map(() => ({ kept: true })),
          position + message.length,
        );
      const { import: advanced, outcomes } = await store.addToImport({
        ...toStoreCaller(caller),
        importID,
        kind: 'events',
        position,
        records: message.length,
        isLast,
        receivedTime: caller.time,
        defaultProfileID: await findDefaultProfile(store, caller),
        replaces: false,
        steps: withContacts(steps, caller),
      });
      if (outcomes === null) return { position: advanced.position, imported: 0, repeated: 0, refused: 0, refusal: [] };
      const answer = toAnswer(sent, outcomes, advanced.position);
      for (const { error } of answer.refusal) traffic.refuse(error.code);
      traffic.numbers.kept += answer.imported;
      traffic.numbers.duplicates += answer.repeated;
      return answer;
    },

    listImports: async ({ kind, limit = defaultListed }, caller) => {
      const imports = await store.listImports({ account: accountOf(caller), kind, limit });
      return { import: imports.map(importAnswer) };
    },

    undoImport: async ({ importID }, caller) => {
      if (caller.access.kind !== 'server') await requireContacts(importID, caller);
      return importAnswer(await store.undoImport({ importID, ...actOf(caller) }));
    },
  };
};
