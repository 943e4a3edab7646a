/** Deletes the oldest claims and claimed links over a contact's or user's limits, as if they had never existed. */
import { limits } from '@firsthand/contract/limits';
import { distinct } from '../../shared/distinct.ts';
import { maxDroppedPerStep, type NewLink, type StatementRow } from '../rules/links.ts';
import { claimKey } from './claims.ts';
import type { LinkStore } from './contact-store.ts';
import { deleteLinks } from './link-deletion.ts';
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

type FreeUsers = Pick<LinkStore, 'holdFreeUsers'>;

const claimsPerQuery = 20;

/** SQL for the key of claim $3 of contact $2. */
const keyOfClaim = (dialect: Dialect) =>
  `(SELECT ${claimKey(dialect)} FROM claim WHERE ${within(dialect, ofContact)} claim = $3)`;

/**
 * SQL for contact $2's unaccepted claims with the same key as its claim $3. Limits apply to each key separately, so
 * that a page cannot find out which of its keys belong to the same contact.
 */
const open = (dialect: Dialect) => `
  FROM claim WHERE ${within(dialect, ofAccount)} contact = $2 AND NOT accepted AND ${claimKey(dialect)} = ${keyOfClaim(dialect)}`;

/** SQL that skips rows that another transaction has locked, and locks the others. */
const lockingFree = ({ name }: Dialect) => (name === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : '');

interface OldClaim {
  readonly claim: number;
  readonly claimID: string;
  readonly user: number;
}

const countSurplus = createQuery<{ surplus: number }>(
  (dialect) => `
    SELECT count(*) AS surplus FROM (
      SELECT 1 ${open(dialect)} LIMIT ${maxDroppedPerStep} OFFSET ${limits.claimsPerContact}
    ) AS beyond`,
);
const selectOldest = createQuery<OldClaim>(
  (dialect) => `
    SELECT claim, "claimID", "user" ${open(dialect)} AND claim <> $3 AND claim > $4 AND NOT EXISTS (
      SELECT 1 FROM statement s WHERE ${within(dialect, 's.account = $1 AND s."user" = claim."user"')} s.claim = claim.claim AND s.verified
    )
    ORDER BY claim LIMIT ${claimsPerQuery} ${lockingFree(dialect)}`,
);
const selectVerified = createQuery<{ claim: number }>(
  (dialect) => `
    SELECT claim FROM statement WHERE ${within(dialect, `${ofAccount} AND "user" = ANY ($2::bigint[])`)}
      claim ${dialect.among('$3', 'bigint')} AND verified`,
);
const deleteClaims = createQuery<never>(
  (dialect) => `DELETE FROM claim WHERE ${within(dialect, ofContact)} claim ${dialect.among('$3', 'bigint')}`,
);

/** Deletes claims for a contact and their links. The caller must hold the users. */
function* dropClaims(account: number, contact: number, claims: readonly OldClaim[]): Operation<void> {
  if (claims.length === 0) return;
  const users = claims.map(({ user }) => user);
  const numbers = claims.map(({ claim }) => claim);
  yield* deleteLinks('withClaims', account, users, numbers);
  yield {
    postgres: 'DELETE FROM claim_name WHERE account = $1 AND "claimID" = ANY ($2::text[])',
    values: [account, claims.map(({ claimID }) => claimID)],
  };
  yield* run(deleteClaims(account, contact, numbers));
}

/**
 * Makes room for a new claim: deletes the oldest claims with its key over `limits.claimsPerContact`, with their links.
 * Keeps claims that were accepted or whose link was verified, and those of users that another transaction has locked.
 */
export function* dropSurplusClaims(
  links: FreeUsers,
  account: number,
  { contact, claim: newClaim }: { readonly contact: number; readonly claim: number },
): Operation<void> {
  let left = (yield* first(countSurplus(account, contact, newClaim)))?.surplus ?? 0;
  for (let after = 0; left > 0; ) {
    const rows = yield* all(selectOldest(account, contact, newClaim, after));
    const users = yield* call(() => links.holdFreeUsers(rows.map(({ user }) => user)));
    const numbers = rows.map(({ claim }) => claim);
    const verified = new Set((yield* all(selectVerified(account, [...users], numbers))).map(({ claim }) => claim));
    const deletable = rows.filter(({ user, claim }) => users.has(user) && !verified.has(claim)).slice(0, left);
    yield* dropClaims(account, contact, deletable);
    left -= deletable.length;
    if (rows.length < claimsPerQuery) return;
    after = (rows.at(-1) as OldClaim).claim;
  }
}

type Link = Pick<StatementRow, 'sequence' | 'user' | 'contact' | 'claim'>;

const selectOpenClaims = createQuery<{ claim: number }>(
  (dialect) => `
    SELECT claim FROM claim WHERE ${within(dialect, 'account = $1 AND contact = ANY ($2::bigint[])')}
      claim ${dialect.among('$3', 'bigint')} AND NOT accepted ${lockingFree(dialect)}`,
);
/**
 * Selects user $4's claims for contact $2 with the same key as its claim $3, unless one of these claims still has a
 * link.
 */
const selectUnlinked = createQuery<OldClaim>((dialect) => {
  const ofKey = `
    FROM claim WHERE ${within(dialect, ofAccount)} contact = $2 AND "user" = $4 AND ${claimKey(dialect)} = ${keyOfClaim(dialect)}`;
  return `
    SELECT claim, "claimID", "user" ${ofKey} AND NOT accepted AND NOT EXISTS (
      SELECT 1 FROM statement WHERE ${within(dialect, ofAccount)} "user" = $4 AND claim IN (SELECT claim ${ofKey})
    ) ${dialect.name === 'postgres' ? 'FOR UPDATE' : ''}`;
});

/**
 * Deletes links of held users. Once the user's claims with the same key have no links left, deletes the unaccepted
 * claims too. A link stays while another transaction has locked its claim, because that transaction may be accepting
 * the claim.
 */
export function* dropLinks(account: number, chosen: readonly Link[]): Operation<void> {
  if (chosen.length === 0) return;
  const claims = yield* all(
    selectOpenClaims(
      account,
      distinct(chosen.map(({ contact }) => contact)),
      chosen.map(({ claim }) => claim),
    ),
  );
  const dropped = yield* deleteLinks(
    'unverified',
    account,
    chosen.map(({ user }) => user),
    chosen.map(({ sequence }) => sequence),
    claims.map(({ claim }) => claim),
  );
  for (const { contact, claim, user } of distinct(dropped, ({ claim }) => claim))
    yield* dropClaims(account, contact as number, yield* all(selectUnlinked(account, contact, claim, user)));
}

/** SQL for the claimed links to contact $2 with the same key as its claim $3. */
const claimedLinks = (dialect: Dialect) => `
  FROM statement WHERE ${within(dialect, ofAccount)} contact = $2 AND claim IN (SELECT claim ${open(dialect)}) AND NOT verified`;
const selectSurplusLinks = createQuery<Link>(
  (dialect) => `
    SELECT sequence, "user", contact, claim ${claimedLinks(dialect)} ORDER BY sequence LIMIT (
      SELECT count(*) FROM (
        SELECT 1 ${claimedLinks(dialect)} LIMIT ${maxDroppedPerStep} OFFSET ${limits.claimedLinksPerContact}
      ) AS beyond
    )`,
);

/**
 * Makes room for a link from an open claim: deletes the oldest such links with the same key over
 * `limits.claimedLinksPerContact`. Links of users that another transaction has locked stay until the next call.
 */
export function* dropSurplusLinks(
  links: FreeUsers,
  account: number,
  { contact, claim }: Pick<NewLink, 'contact' | 'claim'>,
): Operation<void> {
  const surplus = yield* all(selectSurplusLinks(account, contact, claim));
  const users = yield* call(() => links.holdFreeUsers(surplus.map(({ user }) => user)));
  yield* dropLinks(
    account,
    surplus.filter(({ user }) => users.has(user)),
  );
}
