/** createContact: finds or creates the contact with an external ID or address, and links the user to it. */
import { Refusal } from '../../shared/refusal.ts';
import { usesOfContact } from '../rules/accounts/catalogue-rules.ts';
import { getClaimKey } from '../rules/claims.ts';
import { noUser } from '../rules/idempotency-keys.ts';
import type { NewContact } from '../store.ts';
import { submitClaim } from './claims.ts';
import type { ContactParts, RequestResult } from './contact-store.ts';
import { putContact } from './contact-writes.ts';
import { recordFact } from './facts.ts';
import { link } from './links.ts';
import { call, createQuery, first, type Operation, ofContact, within } from './operation.ts';
import { dropSurplusClaims } from './surplus-claims.ts';

/** A result to store, and the contactUUID or handle to return. */
type Created = RequestResult & { readonly existed: boolean; readonly contactUUID: string };
type Response = { exists: boolean; contactUUID: string };

/** For a server token: writes the values to the contact, and links the user, if any, with a verified link. */
function* createAsServer({ contacts, links }: ContactParts, request: NewContact, user: number): Operation<Created> {
  const { account, fields, tags, attributes, token, time } = request;
  const values = { fields, addedTags: tags, removedTags: [], attributes, time, by: token || null };
  const { row, existed, contactUUID } = yield* putContact(contacts, request, values);
  const { contact } = row;
  if (user !== noUser) yield* link(links, account, { user, contact, verified: true, claim: null, token, time });
  return { contact, claim: null, existed, contactUUID };
}

/**
 * For a browser token: creates or updates one claim and one link, whether or not the key exists. Neither writes nor
 * reveals the contact's values. A proof verifies the key and the link, but no other values.
 */
function* createAsBrowser({ contacts, links }: ContactParts, request: NewContact, user: number): Operation<Created> {
  const { account, token, verified, time } = request;
  const found = yield* call(() => contacts.ensure(request));
  const type = found.contactUUID === request.newContactUUID ? 'contact.created' : 'none';
  yield* recordFact(contacts, { account, type, contact: found.contact, time });
  const { claim, claimID, contact, earlierClaims } = yield* submitClaim(links, request, user, found.contact);
  const claimsOfKey = [...earlierClaims, claim];
  const { exists } = yield* link(links, account, { user, contact, verified, claim, claimsOfKey, token, time });
  if (earlierClaims.length === 0) yield* dropSurplusClaims(links, account, { contact, claim });
  return { contact, claim, existed: exists, contactUUID: claimID };
}

const selectClaimID = createQuery<{ claimID: string }>(
  (dialect) => `SELECT "claimID" FROM claim WHERE ${within(dialect, ofContact)} claim = $3`,
);

/** Returns the response to a repeated request; undefined if its claim was deleted in favor of newer ones. */
function* answerAgain(
  { contacts }: ContactParts,
  account: number,
  { contact, claim, existed }: RequestResult,
): Operation<Response | undefined> {
  const exists = Boolean(existed);
  if (claim === null) {
    const row = yield* call(() => contacts.get(contact));
    const { contactUUID } = yield* call(() => contacts.followMerges(row));
    return { exists, contactUUID };
  }
  const stored = yield* first(selectClaimID(account, contact, claim));
  return stored && { exists, contactUUID: stored.claimID };
}

export function* createContact(parts: ContactParts, request: NewContact): Operation<Response> {
  const { links, catalogues, requests } = parts;
  const { account, token, browser, userUUID, requestUUID, time } = request;
  // Sets the day only for a request with a key. A contact without one can be created with a time in the past, which
  // must not become the current day.
  const day = requestUUID === null ? null : requests.dayOf(time);
  const uses = usesOfContact(request);
  const checkUses = () => call(() => catalogues.check(account, browser, uses));
  const knownUser = userUUID === null ? noUser : yield* call(() => links.findUser(account, userUUID));
  // A request from a new user cannot be a repeat, so it can be refused before anything is written.
  if (knownUser === undefined) yield* checkUses();
  const user = knownUser ?? (yield* call(() => links.ensureUser(account, userUUID as string, time)));
  // If two equal requests run concurrently, the second waits here.
  if (user !== noUser) yield* call(() => links.holdUsers([user]));
  const sent = requestUUID === null ? null : { requestUUID, token, user };
  const repeat = sent && (yield* call(() => requests.find(request, sent, day as number)));
  if (repeat === 'erased') throw new Refusal('erased_contact', { field: getClaimKey(request).field });
  const answer = repeat && (yield* answerAgain(parts, account, repeat));
  if (answer) return answer;
  if (knownUser !== undefined) yield* checkUses();
  const created = browser ? yield* createAsBrowser(parts, request, user) : yield* createAsServer(parts, request, user);
  yield* call(() => catalogues.register(account, browser, uses));
  if (sent) yield* call(() => requests.store(sent, created, day as number));
  return { exists: created.existed, contactUUID: created.contactUUID };
}
