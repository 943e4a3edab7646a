/** File imports: creates and lists them, stores their messages, and undoes them. */

import { check, isRecord } from '@firsthand/contract/checking';
import { batchContact } from '@firsthand/contract/contact';
import { batchEvent } from '@firsthand/contract/event';
import type { OutputOf } from '@firsthand/contract/operations';
import type { Problem } from '@firsthand/contract/response';
import { nanoid } from 'nanoid';
import { unlikelyTime } from '../../ingest/event-time.ts';
import { newEvent } from '../../ingest/new-event.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Import, ImportOutcome, ImportPosition, ImportStep, NewContact, Store } from '../../store/store.ts';
import { accountOf, auditFieldsOf, type Caller, type Handlers, toStoreCaller } from '../access/caller.ts';
import { type Agent, toStatedLabels, unknownAgent } from '../request/agents.ts';
import type { CountryOf } from '../request/country.ts';
import { parseImportCursor, toImportCursor } from '../responses/cursor.ts';
import { isoTime } from '../responses/iso-time.ts';
import { findDefaultProfile } from '../segment/contacts.ts';
import { type SegmentCall, type Sender, toCall } from '../segment/messages.ts';
import { createSenders } from '../segment/sender.ts';
import { createVisitorFinder } from '../segment/visitors.ts';
import type { Traffic } from '../traffic.ts';
import { isStep, type SentRecord, splitOutcomes } from './import-outcomes.ts';
import { isNewContact, toNewContact } from './new-contact.ts';
import { withVisitor } from './request-context.ts';

const defaultListed = 100;

const importResponse = ({ createdTime, undoneTime, fingerprint: _, ...rest }: Import) => ({
  ...rest,
  createdTime: isoTime(createdTime),
  ...(undoneTime !== null && { undoneTime: isoTime(undoneTime) }),
});

/** Returns where a page of imports ends, given where it begins. */
const endOf = (imports: readonly Import[], beyond: ImportPosition | undefined): ImportPosition => {
  const { createdTime } = imports.at(-1) as Import;
  const atSameTime = imports.filter((each) => each.createdTime === createdTime).length;
  return { createdTime, skip: atSameTime + (beyond?.createdTime === createdTime ? beyond.skip : 0) };
};

/**
 * Removes a message's original time if another server stored the message, because that server has corrected the
 * timestamp.
 */
const withCorrectedTime = (message: unknown): unknown => {
  if (!isRecord(message) || message.timestamp === undefined) return message;
  const { originalTimestamp: _, ...rest } = message;
  return rest;
};

/** Adds the labels that another tool determined, unless the User-Agent already provides them. */
const withStatedLabels = (visitor: Agent = unknownAgent, message: unknown): Agent => {
  const context = isRecord(message) && isRecord(message.context) ? message.context : {};
  if (visitor.robot || !isRecord(context.labels)) return visitor;
  const present = new Set(visitor.labels.map(([attrID]) => attrID));
  const stated = toStatedLabels(context.labels).filter(([attrID]) => !present.has(attrID));
  return { ...visitor, labels: [...visitor.labels, ...stated] };
};

/** Replaces the event's field name with the message's field name. */
const toMessageProblem = (problem: Problem): Problem =>
  problem.field === 'eventTime'
    ? { ...problem, field: 'timestamp', message: problem.message.replace('eventTime', 'timestamp') }
    : problem;

/**
 * A placeholder for the profile, which createContacts requires but imports do not: an existing contact keeps its own.
 */
const anyProfileID = 'any';

/** Returns a contact to create or change, or the problem with it. */
const toContact = (input: SegmentCall['input'], caller: Caller): NewContact | Problem => {
  const checked = check(batchContact, { contactProfileID: anyProfileID, ...input });
  if (!checked.ok) return checked.problem;
  const { contactProfileID: _, ...fields } = checked.value;
  return toNewContact(fields, caller);
};

const toResponse = (
  sent: readonly SentRecord[],
  outcomes: readonly ImportOutcome[],
  position: number,
): OutputOf<'importEvents'> => {
  const { accepted, refusal } = splitOutcomes(sent, outcomes);
  const imported = accepted.filter(({ kept }) => kept).length;
  return {
    ...{ position, imported, repeated: accepted.length - imported },
    ...{ refused: refusal.length, refusal },
  };
};

export const createImports = (
  store: Pick<
    Store,
    'createImport' | 'addToImport' | 'listImports' | 'undoImport' | 'listCatalogue' | 'getDatabaseKey'
  >,
  { traffic, countryOf }: { readonly traffic: Traffic; readonly countryOf?: CountryOf | undefined },
): Handlers<'createImport' | 'importEvents' | 'listImports' | 'undoImport'> => {
  const findVisitor = createVisitorFinder(countryOf);
  const senderOf = createSenders(store);

  const toEvent = (input: SegmentCall['input'], message: unknown, caller: Caller): SentRecord => {
    const { contactEmailaddress, ...fields } = input;
    const checked = check(batchEvent, fields);
    if (!checked.ok) return toMessageProblem(checked.problem);
    const { eventTime } = checked.value;
    const refuse = (message: string): Problem => ({ code: 'invalid_field', field: 'timestamp', message });
    if (eventTime === undefined) return refuse('`timestamp` is required in an import');
    const base = { receivedTime: caller.time, clockError: 0, fromBrowser: false };
    const unlikely = unlikelyTime(eventTime, base);
    if (unlikely !== undefined) return refuse(`\`timestamp\` ${unlikely.split('. ')[0]}`);
    const visitor = withStatedLabels(findVisitor(message, {}, caller), message);
    const event = newEvent(checked.value, {}, withVisitor(base, visitor, caller));
    if (contactEmailaddress === undefined) return { event };
    const contact = toContact({ contactEmailaddress }, caller);
    return isNewContact(contact) ? { event, contact } : contact;
  };

  const toStep = (sent: unknown, sender: Sender, caller: Caller): SentRecord => {
    const message = withCorrectedTime(sent);
    const call = toCall(message, sender, {}, JSON.stringify(message).length);
    if ('refusal' in call) return call.refusal;
    if (call.operation === 'logEvent') return toEvent(call.input, message, caller);
    const contact = toContact(call.input, caller);
    return isNewContact(contact) ? { contact } : contact;
  };

  /** Finds the contacts that events refer to by external ID. Adds each contact to the first event that refers to it. */
  const withContacts = (steps: readonly ImportStep[], caller: Caller): ImportStep[] => {
    const named = new Set<string>();
    return steps.map((step) => {
      const externalID = step.event?.externalID ?? null;
      if (externalID === null || named.has(externalID)) return step;
      named.add(externalID);
      const contact = toContact({ contactExternalID: externalID }, caller);
      return isNewContact(contact) ? { ...step, contact } : step;
    });
  };

  return {
    createImport: async ({ kind, importName, fingerprint }, caller) => {
      if (kind === 'events' && caller.access.kind !== 'server')
        throw new Refusal('token_kind', { field: 'kind', message: 'only server tokens and owners may import events' });
      return importResponse(
        await store.createImport({ importID: nanoid(), kind, importName, fingerprint, ...auditFieldsOf(caller) }),
      );
    },

    importEvents: async ({ importID = '', position = 0, message, isLast = false, dryRun = false }, caller) => {
      const sender = await senderOf(caller);
      const sent = message.map((each) => toStep(each, sender, caller));
      const steps = sent.filter(isStep);
      if (dryRun)
        return toResponse(
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
      const response = toResponse(sent, outcomes, advanced.position);
      for (const { error } of response.refusal) traffic.refuse(error.code);
      traffic.numbers.kept += response.imported;
      traffic.numbers.duplicates += response.repeated;
      return response;
    },

    listImports: async ({ kind, limit = defaultListed, cursor }, caller) => {
      const beyond = parseImportCursor(cursor);
      const imports = await store.listImports({ account: accountOf(caller), kind, limit, beyond });
      const next = imports.length < limit ? null : endOf(imports, beyond);
      return { import: imports.map(importResponse), nextCursor: toImportCursor(next) };
    },

    undoImport: async ({ importID }, caller) => {
      // Only server tokens can import events, so only they can remove imported events.
      const kind = caller.access.kind === 'server' ? undefined : 'contacts';
      return importResponse(await store.undoImport({ importID, kind, ...auditFieldsOf(caller) }));
    },
  };
};
