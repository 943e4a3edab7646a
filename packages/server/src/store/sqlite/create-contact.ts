/** createContact: the moment at which a visitor says who they are. */
import type { Values } from '../../identity/contact-view.ts';
import { Refusal } from '../../refusal.ts';
import { usesOfContact } from '../catalogue-rules.ts';
import { requestName } from '../erased-names.ts';
import type { NewContact } from '../store.ts';
import type { CatalogueWriter } from './catalogues.ts';
import type { ClaimWriter } from './claims.ts';
import type { Connection } from './connection.ts';
import type { ContactRow } from './contact-finder.ts';
import type { ContactWriter } from './contacts.ts';
import type { LinkWriter } from './links.ts';
import { createMergeReader } from './merges.ts';
import type { Position } from './position.ts';
import type { Repeats } from './repeats.ts';
import type { User, Users } from './users.ts';

export interface CreateContactParts {
  readonly position: Position;
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly contacts: ContactWriter;
  readonly claims: ClaimWriter;
  readonly links: LinkWriter;
  readonly repeats: Repeats;
}

type Answer = { exists: boolean; contactUUID: string };

export const createContactCreator = (db: Connection, parts: CreateContactParts) => {
  const { position, users, catalogues, contacts, claims, links, repeats } = parts;
  const merges = createMergeReader(db);

  /** As published: the values are the contact's own, and the link is verified. */
  const createAsServer = (request: NewContact, user: User) => {
    const { row, existed } = contacts.ensure(request);
    const { fields, attributes, token, time } = request;
    contacts.write(row, { fields, addedTags: request.tags, removedTags: [], attributes, time });
    links.link({ user, contact: row.contact, verified: true, claim: null, token, time });
    return { contact: row.contact, claim: null, existed };
  };

  /** One claim and one claimed link, whether or not anyone has the address: nothing of the contact is written or told. */
  const createAsBrowser = (request: NewContact, user: User) => {
    const { account, token, verified, time, newHandle } = request;
    const { row } = contacts.ensure({ ...request, verified: false });
    const values: Values = {
      fields: { ...request.fields, contactEmailaddress: request.address },
      tags: new Map(request.tags.map((id) => [id, true])),
      attributes: new Map(request.attributes),
    };
    const said = { account, token, user: user.user, contact: row.contact, values, accepted: verified, newHandle, time };
    const { claim } = claims.say(said);
    const { exists } = links.link({ user, contact: row.contact, verified, claim, token, time });
    return { contact: row.contact, claim, existed: exists };
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
    const day = position.dayOf(time);
    const known = users.find(account, userUUID);
    const repeat =
      known && requestUUID !== null ? repeats.findRequest(day, { requestUUID, token, user: known.user }) : undefined;
    const isErased =
      repeat === 'erased' ||
      (requestUUID !== null && contacts.findErasure(account, requestName(token, userUUID, requestUUID)) !== undefined);
    if (isErased) throw new Refusal('erased_contact', { field: 'contactEmailaddress' });
    if (repeat) return answer({ ...repeat, existed: repeat.existed === 1 });
    const uses = usesOfContact({ profileID: fields.contactProfileID, tags, attributes });
    catalogues.check(account, browser, uses);
    catalogues.register(account, browser, uses);
    const user = users.ensure(account, userUUID, time);
    const created = browser ? createAsBrowser(request, user) : createAsServer(request, user);
    if (requestUUID !== null) repeats.rememberRequest(day, { requestUUID, token, user: user.user }, created);
    return answer(created);
  };
};
