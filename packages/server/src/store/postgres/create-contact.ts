/** createContact: the moment at which a visitor says who they are. */
import type { Values } from '../../identity/contact-view.ts';
import { Refusal } from '../../refusal.ts';
import { usesOfContact } from '../catalogue-rules.ts';
import { requestName } from '../erased-names.ts';
import type { NewContact } from '../store.ts';
import type { CatalogueWriter } from './catalogues.ts';
import { sayClaim } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readAnswering } from './contact-rows.ts';
import type { ContactWriter } from './contacts.ts';
import { link } from './links.ts';
import type { Repeats, RequestRow } from './repeats.ts';
import { dropSurplusClaims } from './surplus-claims.ts';
import type { Transaction } from './transaction.ts';
import { lockUsers, type User, type Users } from './users.ts';

export interface CreateContactParts {
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly finder: ContactFinder;
  readonly contacts: ContactWriter;
  readonly repeats: Repeats;
}

/** What a request comes to, and the contactUUID or handle that it answers. */
type Created = RequestRow & { readonly answer: string };

export const createContactCreator = (parts: CreateContactParts) => {
  const { users, catalogues, finder, contacts, repeats } = parts;

  /** As published: the values are the contact's own, and the link is verified. */
  const createAsServer = async (db: Transaction, request: NewContact, user: number): Promise<Created> => {
    const { account, fields, attributes, token, time } = request;
    const { row, existed } = await contacts.ensure(db, request);
    const { contact } = row;
    await contacts.write(db, row, { fields, addedTags: request.tags, removedTags: [], attributes, time });
    await link(db, { account, user, contact, verified: true, claim: null, token, time });
    return { contact, claim: null, existed, answer: (await readAnswering(db, contact)).contactUUID };
  };

  /**
   * One claim and one link, whether or not anyone has the address: nothing of the contact is written or told. A proof
   * verifies the address and the link, and nothing else that comes with it.
   */
  const createAsBrowser = async (db: Transaction, request: NewContact, user: number): Promise<Created> => {
    const { account, token, verified, time, newHandle } = request;
    const { row } = await contacts.ensure(db, request);
    const { contact } = row;
    const values: Values = {
      fields: { ...request.fields, contactEmailaddress: request.address },
      tags: new Map(request.tags.map((id) => [id, true])),
      attributes: new Map(request.attributes),
    };
    const said = { account, token, user, contact, values, newHandle, time };
    const { claim, claimID, wasGiven } = await sayClaim(db, said);
    const { exists } = await link(db, { account, user, contact, verified, claim, token, time });
    if (!wasGiven) await dropSurplusClaims(db, contact, claim);
    return { contact, claim, existed: exists && wasGiven, answer: claimID };
  };

  /** What the same request was answered before; undefined when its claim has given way to others since. */
  const answerAgain = async (db: Transaction, { contact, claim, existed }: RequestRow) => {
    if (claim === null) return { exists: existed, contactUUID: (await readAnswering(db, contact)).contactUUID };
    const found = await db.get<{ claimID: string }>('SELECT "claimID" FROM claim WHERE contact = $1 AND claim = $2', [
      contact,
      claim,
    ]);
    return found && { exists: existed, contactUUID: found.claimID };
  };

  return async (db: Transaction, request: NewContact): Promise<{ exists: boolean; contactUUID: string }> => {
    const { account, token, browser, userUUID, requestUUID, fields, tags, attributes, time } = request;
    const day = db.dayOf(time);
    const uses = usesOfContact({ profileID: fields.contactProfileID, tags, attributes });
    // Made, if it is a new one, before anything else is asked: of two requests at once, the second waits here for the first.
    const [{ user }] = (await users.ensure(db, [{ account, userUUID }], { time, withEvent: false })) as [User];
    await lockUsers(db, [user]);
    if (requestUUID !== null) {
      const sent = { requestUUID, token, user };
      const repeat = await repeats.findRequest(db, sent);
      const answer = repeat && (await answerAgain(db, repeat));
      if (answer) return answer;
      if (
        (await finder.findErasure(
          db,
          account,
          repeats.requestName(sent),
          requestName(token, userUUID, requestUUID),
        )) !== undefined
      ) {
        throw new Refusal('erased_contact', { field: 'contactEmailaddress' });
      }
    }
    const check = await catalogues.checks(db, [account]);
    check(account, { browser, uses });
    await catalogues.register(db, account, [{ browser, uses }]);
    const created = browser ? await createAsBrowser(db, request, user) : await createAsServer(db, request, user);
    if (requestUUID !== null) await repeats.rememberRequest(db, { requestUUID, token, user }, created, day);
    return { exists: created.existed, contactUUID: created.answer };
  };
};
