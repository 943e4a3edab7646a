/** createContact: finds or creates the contact with an external ID or address, and links a user to it. */
import { Refusal } from '../../../shared/refusal.ts';
import { usesOfContact } from '../../rules/accounts/catalogue-rules.ts';
import { getClaimKey } from '../../rules/claims.ts';
import { requestName } from '../../rules/erased-names.ts';
import { noUser } from '../../rules/idempotency-keys.ts';
import type { NewContact } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { submitClaim } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readAnswering } from './contact-rows.ts';
import { link } from './links.ts';
import { ensureContact, type PutContactOperation } from './put-contact.ts';
import type { RequestRepeats, RequestRow } from './request-repeats.ts';
import { lockUsers } from './row-locks.ts';
import { dropSurplusClaims } from './surplus-claims.ts';
import type { User, Users } from './users.ts';

interface CreateContactParts {
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly finder: ContactFinder;
  readonly putContact: PutContactOperation;
  readonly repeats: RequestRepeats;
}

/** The stored result of a request, and the contactUUID or handle to return. */
type Created = RequestRow & { readonly contactUUID: string };
const answerOf = ({ existed, contactUUID }: Created) => ({ exists: existed, contactUUID });

export const createContactCreator = (parts: CreateContactParts) => {
  const { users, catalogues, finder, putContact, repeats } = parts;

  /** With a server token: the values become the contact's own, and the link to a user is verified. */
  const createAsServer = async (db: Transaction, request: NewContact, user: number): Promise<Created> => {
    const { fields, tags, attributes, token, time } = request;
    const values = { fields, addedTags: tags, removedTags: [], attributes, time, by: token || null };
    const { row, existed, contactUUID } = await putContact(db, request, values);
    const { contact } = row;
    if (user !== noUser) await link(db, { user, contact, verified: true, claim: null, token, time });
    return { contact, claim: null, existed, contactUUID };
  };

  /**
   * With a browser token: creates one claim and one link, whether or not the key is known. Neither changes nor returns
   * the contact's own values. A contactProof verifies only the key and the link.
   */
  const createAsBrowser = async (db: Transaction, request: NewContact, user: number): Promise<Created> => {
    const { token, verified, time } = request;
    const { row } = await ensureContact(db, request);
    const { claim, claimID, contact, earlierClaims } = await submitClaim(db, request, user, row.contact);
    const { exists } = await link(db, {
      user,
      contact,
      verified,
      claim,
      claimsOfKey: [...earlierClaims, claim],
      token,
      time,
    });
    if (earlierClaims.length === 0) await dropSurplusClaims(db, contact, claim);
    return { contact, claim, existed: exists, contactUUID: claimID };
  };

  /** Creates and locks the user, if any: the second of two concurrent equal requests waits here. */
  const lockUser = async (db: Transaction, { account, userUUID, time }: NewContact): Promise<number> => {
    if (userUUID === null) return noUser;
    const [{ user }] = (await users.ensure(db, [{ account, userUUID }], { time, withEvent: false })) as [User];
    await lockUsers(db, [user]);
    return user;
  };

  /** Returns the result of an earlier equal request; undefined if its claim was deleted in favor of newer ones. */
  const answerAgain = async (db: Transaction, { contact, claim, existed }: RequestRow) => {
    if (claim === null) return { exists: existed, contactUUID: (await readAnswering(db, contact)).contactUUID };
    const stored = await db.get<{ claimID: string }>(
      'SELECT "claimID" FROM claim WHERE account = $1 AND contact = $2 AND claim = $3',
      [db.account, contact, claim],
    );
    return stored && { exists: existed, contactUUID: stored.claimID };
  };

  return async (db: Transaction, request: NewContact): Promise<{ exists: boolean; contactUUID: string }> => {
    const { token, browser, userUUID, requestUUID, time } = request;
    // Only request keys have a day. Otherwise the time may be in the past, and must not become the current day.
    const day = requestUUID === null ? null : db.dayOf(time);
    const uses = usesOfContact(request);
    const user = await lockUser(db, request);
    if (requestUUID !== null) {
      const key = { requestUUID, token, user };
      const repeat = await repeats.find(db, key);
      const answer = repeat && (await answerAgain(db, repeat));
      if (answer) return answer;
      const names = [repeats.nameOf(key), requestName(token, userUUID, requestUUID)];
      const erased = (await finder.findErasure(db, ...names)) !== undefined;
      if (erased) throw new Refusal('erased_contact', { field: getClaimKey(request).field });
    }
    await catalogues.check(db, db.account, { browser, uses });
    const created = browser ? await createAsBrowser(db, request, user) : await createAsServer(db, request, user);
    await catalogues.register(db, db.account, [{ browser, uses }]);
    if (day !== null && requestUUID !== null) await repeats.store(db, { requestUUID, token, user }, created, day);
    return answerOf(created);
  };
};
