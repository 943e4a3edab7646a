/** createContact: finds or creates the contact with an address, and links the user to it. */
import type { Values } from '../../../identity/contact-view.ts';
import { Refusal } from '../../../refusal.ts';
import { usesOfContact } from '../../rules/catalogue-rules.ts';
import { requestKeyName, requestName } from '../../rules/erased-names.ts';
import { createIdempotencyKeys, tokenInKey } from '../../rules/idempotency-keys.ts';
import type { NewContact } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import type { Dedup } from '../events/dedup.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { ClaimWriter } from './claims.ts';
import type { ContactRow } from './contact-rows.ts';
import { createMergeReader } from './contact-rows.ts';
import type { ContactWriter } from './contacts.ts';
import type { LinkWriter } from './links.ts';
import type { SurplusClaims } from './surplus-claims.ts';
import type { User, Users } from './users.ts';

export interface CreateContactParts {
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

type Answer = { exists: boolean; contactUUID: string };

export const createContactCreator = (db: Connection, parts: CreateContactParts) => {
  const { sequencer, users, catalogues, contacts, claims, surplus, links, dedup, detaching } = parts;
  const merges = createMergeReader(db);
  const { requestKey } = createIdempotencyKeys(
    db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer,
  );

  /**
   * Returns the stored result of a request that was sent before, or 'erased' when it was erased with its contact. A request that
   * was sent to a PostgreSQL database, from which this one was copied, is known by its key only.
   */
  const findRepeat = ({ account, token, userUUID, requestUUID }: NewContact, day: number) => {
    if (requestUUID === null) return undefined;
    if (contacts.findErasure(account, requestName(token, userUUID, requestUUID)) !== undefined) return 'erased';
    const known = users.find(account, userUUID);
    if (!known) return undefined;
    const { user } = known;
    const key = requestKey({ requestUUID, token });
    if (contacts.findErasure(account, requestKeyName(user, key)) !== undefined) return 'erased';
    const found =
      dedup.findRequest(day, { requestUUID, token, user }) ??
      dedup.findRequest(day, { requestUUID: key, token: tokenInKey, user });
    if (found && detaching.isUnderWay(found.contact)) return 'erased';
    // The claim may have been deleted as surplus since: then the request counts as never sent.
    return found?.claim && !claims.get(found.claim) ? undefined : found;
  };

  /** For a server token: the values become the contact's own, and the link is verified. */
  const createAsServer = (request: NewContact, user: User) => {
    const { row, existed } = contacts.ensure(request);
    const { fields, attributes, token, time } = request;
    contacts.write(row, { fields, addedTags: request.tags, removedTags: [], attributes, time });
    links.link({ user, contact: row.contact, verified: true, claim: null, token, time });
    return { contact: row.contact, claim: null, existed };
  };

  /**
   * For a browser token: creates or updates one claim and one link, whether or not the address is known, and neither writes nor
   * reveals anything of the contact. A proof verifies the address and the link, but none of the other values.
   */
  const createAsBrowser = (request: NewContact, user: User) => {
    const { account, token, verified, time, newHandle } = request;
    const { row } = contacts.ensure(request);
    const values: Values = {
      fields: { ...request.fields, contactEmailaddress: request.address },
      tags: new Map(request.tags.map((id) => [id, true])),
      attributes: new Map(request.attributes),
    };
    const submitted = { account, token, user: user.user, contact: row.contact, values, newHandle, time };
    const { claim, wasGiven } = claims.submit(submitted);
    const { exists } = links.link({ user, contact: row.contact, verified, claim, token, time });
    if (!wasGiven) surplus.dropSurplusClaims(row.contact, claim);
    return { contact: row.contact, claim, existed: exists && wasGiven };
  };

  const answer = ({ contact, claim, existed }: { contact: number; claim: number | null; existed: boolean }): Answer => {
    const contactUUID =
      claim === null
        ? (contacts.get(merges.follow(contact)) as ContactRow).contactUUID
        : (claims.get(claim)?.claimID as string);
    return { exists: existed, contactUUID };
  };

  return (request: NewContact): Answer => {
    const { account, token, browser, userUUID, requestUUID, fields, tags, attributes, time } = request;
    const day = sequencer.dayOf(time);
    const repeat = findRepeat(request, day);
    if (repeat === 'erased') throw new Refusal('erased_contact', { field: 'contactEmailaddress' });
    if (repeat) return answer({ ...repeat, existed: repeat.existed === 1 });
    const uses = usesOfContact({ profileID: fields.contactProfileID, tags, attributes });
    catalogues.check(account, browser, uses);
    catalogues.register(account, browser, uses);
    const user = users.ensure(account, userUUID, time);
    const created = browser ? createAsBrowser(request, user) : createAsServer(request, user);
    if (requestUUID !== null) dedup.rememberRequest(day, { requestUUID, token, user: user.user }, created);
    return answer(created);
  };
};
