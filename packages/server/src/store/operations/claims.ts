/** Stores and marks claims. */
import { Refusal } from '../../shared/refusal.ts';
import { type ClaimRow, chooseClaimContact, type StoredValues, toClaimJSON, toClaimKeyText } from '../rules/claims.ts';
import type { NewContact, RequestOf } from '../store.ts';
import { readEntryMerges } from './catalogues.ts';
import type { ContactParts, LinkStore } from './contact-store.ts';
import { acceptExternalID, withdrawExternalID } from './contact-writes.ts';
import {
  all,
  call,
  createQuery,
  type Dialect,
  first,
  type Operation,
  ofAccount,
  ofContact,
  run,
  within,
} from './operation.ts';

/** SQL for a claim's key (toClaimKeyText). An index uses the same expression. */
export const claimKey = ({ name }: Pick<Dialect, 'name'>): string => {
  const field = (key: string) => (name === 'sqlite' ? `said ->> '$.fields.${key}'` : `said -> 'fields' ->> '${key}'`);
  return `coalesce('contactEmailaddress ' || (${field('contactEmailaddress')}),
    'contactExternalID ' || (${field('contactExternalID')}))`;
};

type EarlierClaim = Pick<ClaimRow, 'claim' | 'claimID' | 'contact' | 'token'> & {
  /** SQLite returns JSON. */
  readonly said: string | StoredValues;
  readonly isOpen: boolean | 0 | 1;
};

const selectOfKey = createQuery<EarlierClaim>(
  (dialect) => `
    SELECT claim, "claimID", contact, said, token, NOT accepted AND NOT voided AS "isOpen" FROM claim
    WHERE ${within(dialect, ofAccount)} "user" = $2 AND contact ${dialect.among('$3', 'bigint')} AND ${claimKey(dialect)} = $4
    ORDER BY contact, claim ${dialect.name === 'postgres' ? 'FOR NO KEY UPDATE' : ''}`,
);
const updateValues = createQuery<never>(
  (dialect) => `UPDATE claim SET said = $4, "updatedTime" = $5 WHERE ${within(dialect, ofContact)} claim = $3`,
);
const insertClaim = createQuery<{ claim: number }>(
  ({ name }) => `
    INSERT INTO claim (account, contact, claim, "claimID", token, "user", said, accepted, voided, "createdTime", "updatedTime")
    VALUES ($1, $2, ${name === 'sqlite' ? 'NULL' : "nextval('claim_number')"}, $3, $4, $5, $6, ${name === 'sqlite' ? '0, 0' : 'false, false'}, $7, $7)
    RETURNING claim`,
);

/**
 * Adds values to the open claim of this token, user and key; creates the claim if there is none. Never changes accepted
 * claims. Each key has its own claim, so that handles do not reveal that two keys belong to the same contact.
 *
 * `keyHolder` is the contact with the key. Returns the claim, its contact (chooseClaimContact), and the user's earlier
 * claims with this key. The caller must hold the user (LinkStore).
 */
export function* submitClaim(
  links: LinkStore,
  request: NewContact,
  user: number,
  keyHolder: number,
): Operation<{ claim: number; claimID: string; contact: number; earlierClaims: number[] }> {
  const { account, token, newHandle, time } = request;
  const entryMerges = yield* readEntryMerges(account);
  const group = yield* call(() => links.readGroupNumbers(keyHolder));
  const earlier = yield* all(selectOfKey(account, user, group, toClaimKeyText(request)));
  const earlierClaims = earlier.map(({ claim }) => claim);
  const before = earlier.find((claim) => claim.token === token && claim.isOpen);
  if (before) {
    const values = typeof before.said === 'string' ? JSON.parse(before.said) : before.said;
    const { contact, claim, claimID } = before;
    yield* run(updateValues(account, contact, claim, toClaimJSON(request, entryMerges, values), time));
    return { claim, claimID, contact, earlierClaims };
  }
  const contact = chooseClaimContact(earlier, keyHolder);
  const values = [account, contact, newHandle, token, user, toClaimJSON(request, entryMerges), time];
  const { claim } = (yield* first(insertClaim(...values))) as { claim: number };
  yield {
    postgres: 'INSERT INTO claim_name (account, "claimID", claim, contact) VALUES ($1, $2, $3, $4)',
    values: [account, newHandle, claim, contact],
  };
  return { claim, claimID: newHandle, contact, earlierClaims };
}

const updateMarks = createQuery<never>(
  (dialect) => `
    UPDATE claim SET accepted = accepted OR $4, voided = $5, "updatedTime" = $6
    WHERE ${within(dialect, ofContact)} claim = $3`,
);

/** Accepts, voids or restores a claim. An accepted claim stays accepted. */
function* markClaim(
  { contacts, links }: ContactParts,
  { account, claimID, time, by }: RequestOf<'acceptClaim'>,
  marks: { readonly accepted: boolean; readonly voided: boolean },
): Operation<{ contactUUID: string }> {
  const found = yield* call(() => links.findClaim(account, claimID));
  if (found) yield* call(() => links.holdUsers([found.user]));
  // Reads the claim again, because another transaction may have changed or deleted it before the user was held.
  const claim = found && (yield* call(() => links.findClaim(account, claimID)));
  if (!claim) {
    const isErased = yield* call(() => contacts.isErasedClaim(account, claimID));
    throw new Refusal(isErased ? 'erased_contact' : 'unknown_claim', { field: 'claimID' });
  }
  const { contactExternalID: externalID } = claim.values.fields;
  if (externalID !== undefined) {
    if (marks.voided) yield* withdrawExternalID(contacts, claim);
    else if (marks.accepted || claim.accepted) yield* acceptExternalID(contacts, claim, { externalID, time, by });
  }
  const row = yield* call(() => contacts.get(claim.contact));
  yield* run(updateMarks(account, claim.contact, claim.claim, marks.accepted, marks.voided, time));
  const { contactUUID } = yield* call(() => contacts.followMerges(row));
  return { contactUUID };
}

export const acceptClaim = (
  parts: ContactParts,
  request: RequestOf<'acceptClaim'>,
): Operation<{ contactUUID: string }> => markClaim(parts, request, { accepted: true, voided: false });

export const voidClaim = (parts: ContactParts, request: RequestOf<'voidClaim'>): Operation<{ contactUUID: string }> =>
  markClaim(parts, request, { accepted: false, voided: !request.restore });
