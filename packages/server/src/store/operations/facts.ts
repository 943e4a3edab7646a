/** Facts: changes that webhooks send and that have no row in the order of events and statements. */
import type { WebhookType } from '@firsthand/contract/webhook';
import type { Fact, RequestOf } from '../store.ts';
import type { Result } from './contacts.ts';
import { all, call, createQuery, type Operation, run } from './operation.ts';

export interface SequenceSource {
  /** Returns the next sequence in the order of events and statements. */
  readonly drawSequence: () => Result<number>;
}

interface NewFact {
  readonly account: number;
  /**
   * `none` takes as much time as a fact, so that the response time does not reveal that there is none. It is never
   * sent.
   */
  readonly type: Exclude<WebhookType, 'event.logged'> | 'none';
  readonly contact?: number;
  readonly other?: number;
  readonly user?: number;
  readonly detail?: Fact['detail'];
  readonly time: number;
}

const selectTypes = createQuery<{ types: string }>(() => 'SELECT types FROM webhook WHERE account = $1');
const insertFact = createQuery<never>(
  () => `
    INSERT INTO webhook_fact (account, sequence, type, contact, other, "user", detail, time, "webhookID")
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/** Whether any of the account's webhooks, in any state, wants one of the types. */
function* isWanted(account: number, types: readonly WebhookType[]): Operation<boolean> {
  const webhooks = yield* all(selectTypes(account));
  return webhooks.some((webhook) => types.some((type) => webhook.types.includes(`"${type}"`)));
}

function* insert(source: SequenceSource, fact: NewFact, webhookID: string | null = null): Operation<void> {
  const { account, type, contact = null, other = null, user = null, detail = {}, time } = fact;
  const sequence = yield* call(source.drawSequence);
  yield* run(insertFact(account, sequence, type, contact, other, user, JSON.stringify(detail), time, webhookID));
}

/** Records a fact for one webhook. */
export const recordFactFor = (source: SequenceSource, webhookID: string, fact: NewFact): Operation<void> =>
  insert(source, fact, webhookID);

/** Records a fact if one of the account's webhooks wants it. Run it in the change's transaction. */
export function* recordFact(source: SequenceSource, fact: NewFact): Operation<void> {
  const type = fact.type === 'none' ? 'contact.created' : fact.type;
  if (yield* isWanted(fact.account, [type])) yield* insert(source, fact);
}

/** One statement per column, because SQLite would use no index for a condition on both. */
const deleteFactsOf = (['contact', 'other'] as const).map((column) =>
  createQuery<never>(
    ({ among }) => `DELETE FROM webhook_fact WHERE account = $1 AND ${column} ${among('$2', 'bigint')}`,
  ),
);
/** Removes erased contacts from all audiences, without facts. */
const forgetMembers = createQuery<never>(
  ({ among }) => `
    DELETE FROM webhook_member
    WHERE account = $1 AND audience IN (SELECT audience FROM webhook_audience WHERE account = $1)
      AND contact ${among('$2', 'bigint')}`,
);
/** Ends the webhooks' leases, so that responses to the messages being sent are not stored. */
const endLeases = createQuery<never>(() => 'UPDATE webhook SET "leasedUntil" = 0 WHERE account = $1');
/** A stored response may contain data that the endpoint returned. */
const clearResponses = createQuery<never>(
  () => `
    UPDATE webhook_delivery SET response = ''
    WHERE "webhookID" IN (SELECT "webhookID" FROM webhook WHERE account = $1) AND response <> ''`,
);

/** Replaces all facts about erased contacts with the fact that they were erased. */
export function* recordErasedContacts(
  source: SequenceSource,
  account: number,
  contacts: readonly { readonly contact: number; readonly contactUUID: string }[],
  time: number,
): Operation<void> {
  if ((yield* all(selectTypes(account))).length === 0) return;
  const erased = contacts.map(({ contact }) => contact);
  // First, because it also waits for changes of audiences in progress.
  yield* run(endLeases(account));
  for (const deleteFacts of deleteFactsOf) yield* run(deleteFacts(account, erased));
  yield* run(forgetMembers(account, erased));
  yield* run(clearResponses(account));
  if (!(yield* isWanted(account, ['contact.erased']))) return;
  for (const { contactUUID } of contacts)
    yield* insert(source, { account, type: 'contact.erased', detail: { contactUUID }, time });
}

interface FactRow extends Omit<Fact, 'detail' | 'contactUUID' | 'otherContactUUID' | 'userUUID'> {
  readonly detail: string;
  readonly contact: number | null;
  readonly other: number | null;
  readonly contactUUID: string | null;
  readonly otherContactUUID: string | null;
  readonly userUUID: string | null;
}

/** A contact that is merged into itself was erased (SQLite). */
const joinContact = (alias: string, account: string, contact: string) =>
  `LEFT JOIN contact ${alias} ON ${alias}.account = ${account} AND ${alias}.contact = ${contact}
     AND coalesce(${alias}."mergedInto", 0) <> ${alias}.contact`;

const selectFacts = createQuery<FactRow>(
  () => `
    SELECT f.sequence, f.type, f.time, f.detail, f.contact, f.other, c."contactUUID" AS "contactUUID",
      o."contactUUID" AS "otherContactUUID", u."userUUID" AS "userUUID"
    FROM webhook_fact f ${joinContact('c', 'f.account', 'f.contact')} ${joinContact('o', 'f.account', 'f.other')}
    LEFT JOIN "user" u ON u.account = f.account AND u."user" = f."user"
    WHERE f.account = $1 AND f.sequence > $2 AND f.sequence <= $3 AND (f."webhookID" IS NULL OR f."webhookID" = $5)
    ORDER BY f.sequence LIMIT $4`,
);

interface LinkRow {
  readonly sequence: number;
  readonly time: number;
  readonly verified: boolean | 0 | 1;
  readonly contactUUID: string | null;
  readonly userUUID: string;
}
const selectLinks = createQuery<LinkRow>(({ name }) => {
  const statements =
    name === 'sqlite'
      ? 'statement s'
      : `statement_place p
         JOIN statement s ON s.account = p.account AND s."user" = p."user" AND s.sequence = p.sequence`;
  const place = name === 'sqlite' ? 's' : 'p';
  return `
    SELECT s.sequence, s.time, s.verified, c."contactUUID" AS "contactUUID", u."userUUID" AS "userUUID"
    FROM ${statements} JOIN "user" u ON ${name === 'sqlite' ? '' : 'u.account = s.account AND'} u."user" = s."user"
    ${joinContact('c', 'u.account', 's.contact')}
    WHERE ${name === 'sqlite' ? 'u' : 'p'}.account = $1 AND ${place}.sequence > $2 AND ${place}.sequence <= $3
      AND s.contact IS NOT NULL AND NOT s.erased
    ORDER BY ${place}.sequence LIMIT $4`;
});

const toFact = ({ contact, other, detail, ...row }: FactRow): Fact[] => {
  const isGone = (contact !== null && row.contactUUID === null) || (other !== null && row.otherContactUUID === null);
  if (isGone || (row.type as NewFact['type']) === 'none') return [];
  const { contactUUID, otherContactUUID, userUUID } = row;
  return [
    {
      ...row,
      contactUUID: contactUUID ?? '',
      otherContactUUID: otherContactUUID ?? '',
      userUUID: userUUID ?? '',
      detail: JSON.parse(detail),
    },
  ];
};

const toRecognition = ({ sequence, time, verified, contactUUID, userUUID }: LinkRow): Fact[] =>
  contactUUID === null
    ? []
    : [
        {
          ...{ sequence, time, contactUUID, userUUID, type: 'contact.recognized', otherContactUUID: '' },
          detail: { linkID: String(sequence), verified: Boolean(verified) },
        },
      ];

export function* listFacts(query: RequestOf<'listFacts'>): Operation<{ facts: Fact[]; through: number }> {
  const { account, after, through, limit, recognized, webhookID = null } = query;
  const range = [account, after, through, limit];
  const facts = yield* all(selectFacts(...range, webhookID));
  const links = recognized ? yield* all(selectLinks(...range)) : [];
  const ends = [facts, links].flatMap((rows) => (rows.length < limit ? [] : (rows.at(-1)?.sequence ?? [])));
  const end = Math.min(through, ...ends);
  const listed = [...facts.flatMap(toFact), ...links.flatMap(toRecognition)].filter(({ sequence }) => sequence <= end);
  return { facts: listed.sort((a, b) => a.sequence - b.sequence), through: end };
}

/** How long facts are stored, so that they can be sent again. */
export const factRetentionDays = 30;

/** Deletes up to $2 facts recorded before $1. */
export const deleteOldFacts = createQuery<never>(
  ({ name }) => `
    DELETE FROM webhook_fact WHERE (account, sequence) IN (
      SELECT account, sequence FROM webhook_fact WHERE time < $1 LIMIT $2
      ${name === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''})`,
);
