/** Deletes links of held users, as if they had never existed. */
import { distinct } from '../../shared/distinct.ts';
import type { StatementRow } from '../rules/links.ts';
import { all, createQuery, type Dialect, type Operation, ofAccount, within } from './operation.ts';

type DeletedLink = Pick<StatementRow, 'user' | 'contact' | 'claim'>;

const createDeletion = (condition: (dialect: Dialect) => string) =>
  createQuery<DeletedLink>((dialect) => {
    const links = `
      DELETE FROM statement WHERE ${within(dialect, `${ofAccount} AND "user" = ANY ($2::bigint[])`)} ${condition(dialect)}`;
    return dialect.name === 'sqlite'
      ? `${links} RETURNING contact, claim, user`
      : `WITH gone AS (${links} RETURNING sequence, contact, claim, "user"),
           places AS (DELETE FROM statement_place p USING gone WHERE p.account = $1 AND p.sequence = gone.sequence)
         SELECT contact, claim, "user" FROM gone`;
  });

const deletions = {
  withClaims: createDeletion(({ among }) => `claim ${among('$3', 'bigint')}`),
  withSequences: createDeletion(({ among }) => `sequence ${among('$3', 'bigint')}`),
  /** Links with these sequences, from one of the claims $4. */
  unverified: createDeletion(
    ({ among }) => `sequence ${among('$3', 'bigint')} AND claim ${among('$4', 'bigint')} AND NOT verified`,
  ),
};

/** Deletes links of these users, which must be held, and returns the deleted links. */
export function* deleteLinks(
  which: keyof typeof deletions,
  account: number,
  users: readonly number[],
  ...values: readonly (readonly number[])[]
): Operation<DeletedLink[]> {
  const deleted = yield* all(deletions[which](account, distinct(users), ...values));
  if (deleted.length > 0) {
    yield {
      postgres: `
        DELETE FROM contact_user c WHERE account = $1 AND contact = ANY ($2::bigint[]) AND "user" = ANY ($3::bigint[])
          AND NOT EXISTS (SELECT FROM statement s WHERE s.account = $1 AND s."user" = c."user" AND s.contact = c.contact)`,
      values: [account, distinct(deleted.map(({ contact }) => contact)), distinct(deleted.map(({ user }) => user))],
    };
  }
  return deleted;
}
