import { limits } from '@firsthand/contract/limits';
import type { InputOf } from '@firsthand/contract/operations';
import { contactChanges } from '../../ingest/contact-change.ts';
import { isProof } from '../../ingest/proof.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import {
  accountOf,
  auditFieldsOf,
  type Caller,
  type Handler,
  type Handlers,
  receivedTimeOf,
  toStoreCaller,
} from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';
import { refusePageNames, toNamedContact } from '../request/contact-names.ts';
import { respondInSteps } from '../responses/constant-time.ts';
import { parseContactCursor, toContactCursor } from '../responses/cursor.ts';
import { isoTime } from '../responses/iso-time.ts';
import { claimResponse, contactResponse, importResponse, linkResponse, mergeResponse } from './contact-responses.ts';
import { eventResponse } from './events.ts';
import { isNewContact, toNewContact } from './new-contact.ts';

/** Checks the proof that the user has this key. Rejects with Refusal('invalid_field') for an invalid proof. */
const checkProof = async (
  store: Pick<Store, 'findProofKeys'>,
  contactProof: string,
  key: Omit<Parameters<typeof isProof>[1], 'browserToken'>,
  caller: Caller,
) => {
  const keys = await store.findProofKeys({ account: accountOf(caller), time: caller.time });
  const statement = { browserToken: caller.tokenUUID, ...key };
  if (isProof(contactProof, statement, keys, receivedTimeOf(caller))) return true;
  const keyName = key.address === undefined ? 'contactExternalID' : 'address';
  throw new Refusal('invalid_field', {
    field: 'contactProof',
    message: `\`contactProof\` must be made with a server token of this account, for this browser token, ${keyName} and userUUID, at most ${limits.proofMinutes} minutes ago`,
  });
};

const createContact = async (store: Store, input: InputOf<'createContact'>, caller: Caller) => {
  const storeCaller = toStoreCaller(caller);
  const { userUUID = '', contactExternalID: externalID = '', contactProof } = input;
  if (storeCaller.browser && userUUID === '') {
    throw new Refusal('missing_field', { field: 'userUUID', message: '`userUUID` is required with a browser token' });
  }
  const contact = toNewContact(input, caller);
  if (!isNewContact(contact)) throw refusalOf(contact);
  const { address } = contact;
  return store.createContact({
    ...contact,
    verified:
      !storeCaller.browser ||
      (contactProof !== undefined &&
        (await checkProof(store, contactProof, { address, externalID, userUUID }, caller))),
    requestUUID: input.requestUUID ?? null,
  });
};

const createExportContact =
  (store: Store): Handler<'exportContact'> =>
  async ({ limit = 1_000, cursor, ...naming }, caller) => {
    const storeCaller = toStoreCaller(caller);
    const beyond = parseContactCursor(cursor);
    const contact = await store.getContact({
      ...storeCaller,
      ...toNamedContact(storeCaller.account, naming),
      include: ['claim', 'link', 'import'],
      asSent: true,
      beyond,
    });
    const { contactUUID, claims = [], links = [], imports = [], next = { claim: null, link: null } } = contact;
    const after = beyond?.event;
    const page =
      after === null
        ? { events: [], next: null }
        : await store.getEvents({
            account: storeCaller.account,
            contactUUID,
            asSent: true,
            order: 'asc',
            beyond: after,
            limit,
          });
    // Writes one audit entry per export, before its first page is returned.
    if (beyond === undefined) {
      await store.recordAudit({ ...auditFieldsOf(caller), action: 'exportContact', subject: { contactUUID } });
    }
    return {
      contact: contactResponse(contact),
      claim: claims.map(claimResponse),
      link: links.map(linkResponse),
      import: imports.map(importResponse),
      event: page.events.map((event) => ({
        ...eventResponse(event),
        ...(event.why.verified === false && { claimed: true as const }),
      })),
      nextCursor: toContactCursor({ ...next, event: page.next }),
    };
  };

export const createContacts = (
  store: Store,
): Handlers<'createContact' | 'getContact' | 'updateContact' | 'exportContact' | 'eraseContact'> => ({
  // Prevents a page from learning from response times whether an address is known.
  createContact: (input, caller) => {
    const response = createContact(store, input, caller);
    return caller.access.kind === 'browser' ? respondInSteps(response) : response;
  },

  getContact: async ({ include = [], cursor, ...naming }, caller) => {
    const storeCaller = toStoreCaller(caller);
    refusePageNames(caller, naming);
    if (storeCaller.browser && include.length > 0) {
      throw new Refusal('token_kind', {
        field: 'include',
        message: '`include` takes a server token; this one is a browser token',
      });
    }
    if (cursor !== undefined && include.length === 0) {
      throw new Refusal('invalid_field', {
        field: 'cursor',
        message: '`cursor` requires `include`: repeat it from the first request',
      });
    }
    const beyond = parseContactCursor(cursor);
    const contact = await store.getContact({
      ...storeCaller,
      ...toNamedContact(storeCaller.account, naming),
      include,
      beyond,
    });
    const { claims, claimCount, links, linkCount, merges, mergeCount, next } = contact;
    return {
      contact: contactResponse(contact),
      ...(claims && { claim: claims.map(claimResponse), claimCount }),
      ...(links && { link: links.map(linkResponse), linkCount }),
      ...(merges && { merge: merges.map(mergeResponse), mergeCount }),
      ...(next && { nextCursor: toContactCursor({ ...next, event: null }) }),
    };
  },

  updateContact: async (input, caller) =>
    store.updateContact({
      ...auditFieldsOf(caller),
      ...toNamedContact(accountOf(caller), input),
      ...contactChanges(input),
    }),

  exportContact: createExportContact(store),

  eraseContact: async (input, caller) => {
    const { erasedTime, ...receipt } = await store.eraseContact({
      ...auditFieldsOf(caller),
      ...toNamedContact(accountOf(caller), input),
      verifiedOnly: input.verifiedOnly,
    });
    return { ...receipt, erasedTime: isoTime(erasedTime) };
  },
});
