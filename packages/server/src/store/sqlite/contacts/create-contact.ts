/** createContact: finds or creates the contact with an external ID or address, and links the user to it. */
import { Refusal } from '../../../shared/refusal.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { getClaimKey } from '../../rules/claims.ts';
import { requestKeyName, requestName } from '../../rules/erased-names.ts';
import { createIdempotencyKeys, noUser, tokenInKey } from '../../rules/idempotency-keys.ts';
import type { NewContact } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import type { Dedup } from '../events/dedup.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { ClaimWriter } from './claims.ts';
import type { ContactWriter } from './contacts.ts';
import type { LinkWriter } from './links.ts';
import type { SurplusClaims } from './surplus-claims.ts';
import type { Users } from './users.ts';

interface CreateContactParts {
  readonly sequencer: Sequencer;
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly contacts: ContactWriter;
  readonly claims: ClaimWriter;
  readonly surplus: SurplusClaims;
  readonly links: LinkWriter;
  readonly dedup: Dedup;
  readonly detaching: Detaching;
}

/** The result that is stored for repeats, and the contactUUID or handle to return. */
type Created = { contact: number; claim: number | null; existed: boolean; contactUUID: string };
const toResponse = ({ existed, contactUUID }: Created) => ({ exists: existed, contactUUID });

export const createContactCreator = (db: Connection, parts: CreateContactParts) => {
  const { sequencer, users, catalogues, contacts, claims, surplus, links, dedup, detaching } = parts;
  const claimIDOf = db.prepare<[number], string>('SELECT claimID FROM claim WHERE claim = ?').pluck();
  const { requestKey } = createIdempotencyKeys(
    db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer,
  );

  /**
   * Returns the response to a repeated request; 'erased' if the request was erased with its contact. Requests copied
   * from a PostgreSQL database are known by their keys only.
   */
  const findRepeat = ({ account, token, userUUID, requestUUID }: NewContact, day: number | null) => {
    if (day === null || requestUUID === null) return undefined;
    if (contacts.findErasure(account, requestName(token, userUUID, requestUUID)) !== undefined) return 'erased';
    const user = userUUID === null ? noUser : users.find(account, userUUID)?.user;
    if (user === undefined) return undefined;
    const key = requestKey({ requestUUID, token });
    if (contacts.findErasure(account, requestKeyName(user, key)) !== undefined) return 'erased';
    const stored =
      dedup.findRequest(day, { requestUUID, token, user }) ??
      dedup.findRequest(day, { requestUUID: key, token: tokenInKey, user });
    if (!stored) return undefined;
    const { contact, claim, existed } = stored;
    if (detaching.isUnderWay(contact)) return 'erased';
    const contactUUID = claim === null ? contacts.followMerges(contact).contactUUID : claimIDOf.get(claim);
    // If the claim has been deleted as surplus since, the request counts as never sent.
    return contactUUID === undefined ? undefined : { exists: existed === 1, contactUUID };
  };

  /** For a server token: writes the values to the contact, and links the user, if any, with a verified link. */
  const createAsServer = (request: NewContact, user: number): Created => {
    const { fields, tags, attributes, token, time } = request;
    const values = { fields, addedTags: tags, removedTags: [], attributes, time, by: token || null };
    const { row, existed, contactUUID } = contacts.put(request, values);
    const { contact } = row;
    if (user !== noUser) links.link({ user, contact, verified: true, claim: null, token, time });
    return { contact, claim: null, existed, contactUUID };
  };

  /**
   * For a browser token: creates or updates one claim and one link, whether or not the key exists. Neither writes nor
   * reveals the contact's values. A proof verifies the key and the link, but no other values.
   */
  const createAsBrowser = (request: NewContact, user: number): Created => {
    const { token, verified, time } = request;
    const { contact: found } = contacts.ensure(request);
    const { claim, claimID, contact, earlierClaims } = claims.submit(request, user, found);
    const { exists } = links.link({
      user,
      contact,
      verified,
      claim,
      claimsOfKey: [...earlierClaims, claim],
      token,
      time,
    });
    if (earlierClaims.length === 0) surplus.dropSurplusClaims(contact, claim);
    return { contact, claim, existed: exists, contactUUID: claimID };
  };

  return (request: NewContact): { exists: boolean; contactUUID: string } => {
    const { account, token, browser, userUUID, requestUUID, time } = request;
    // Only request keys have a day. A contact may be created with a past time, which must not become the current day.
    const day = requestUUID === null ? null : sequencer.dayOf(time);
    const repeat = findRepeat(request, day);
    if (repeat === 'erased') throw new Refusal('erased_contact', { field: getClaimKey(request).field });
    if (repeat) return repeat;
    const uses = usesOfContact(request);
    catalogues.check(account, browser, uses);
    catalogues.register(account, browser, uses);
    const user = userUUID === null ? noUser : users.ensure(account, userUUID, time).user;
    const created = browser ? createAsBrowser(request, user) : createAsServer(request, user);
    if (day !== null && requestUUID !== null) dedup.rememberRequest(day, { requestUUID, token, user }, created);
    return toResponse(created);
  };
};
