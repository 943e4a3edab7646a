/** What users were said to be, as the rules in identity/ take it. */
import type { KeptStatement } from '../../identity/statements.ts';
import type { Connection } from './connection.ts';

export interface StatementRow extends KeptStatement {
  readonly user: number;
  readonly claim: number | null;
  readonly claimID: string | null;
  readonly time: number;
}

interface Row extends Omit<StatementRow, 'verified' | 'voided' | 'onlyClaimed'> {
  readonly verified: number;
  readonly voided: number;
  readonly onlyClaimed: number;
}

/**
 * A statement that a claim made stands or falls with the claim, until something better has verified it; so accepting and
 * voiding a claim are one mark on the claim, and taking them back is exact.
 */
export const statementColumns = `
  s.sequence, s.user, s.contact, s.claim, c.claimID, s.time,
  (s.verified OR (c.claim IS NOT NULL AND c.accepted AND NOT c.voided)) AS verified,
  (s.voided OR (c.claim IS NOT NULL AND c.voided AND NOT s.verified)) AS voided,
  (c.claim IS NOT NULL AND NOT c.accepted AND NOT s.verified) AS onlyClaimed
  FROM statement s LEFT JOIN claim c ON c.claim = s.claim`;

const toStatement = (row: Row): StatementRow => ({
  ...row,
  verified: row.verified === 1,
  voided: row.voided === 1,
  onlyClaimed: row.onlyClaimed === 1,
});

export const createStatementReader = (db: Connection) => {
  const ofUser = db.prepare<[number], Row>(`SELECT ${statementColumns} WHERE s.user = ? ORDER BY s.sequence`);
  const ofContact = db.prepare<[number], Row>(`SELECT ${statementColumns} WHERE s.contact = ? ORDER BY s.sequence`);
  return {
    /** All of a user's statements, ascending: the list that the rules take. */
    ofUser: (user: number): StatementRow[] => ofUser.all(user).map(toStatement),
    /** Every link to a contact, whoever's. */
    ofContact: (contact: number): StatementRow[] => ofContact.all(contact).map(toStatement),
  };
};
export type StatementReader = ReturnType<typeof createStatementReader>;
