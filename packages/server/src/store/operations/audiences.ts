/**
 * Operations on audiences: segments whose changes a webhook sends. The members that a webhook has sent are stored, and
 * change in the commit that stores the fact.
 */
import { limits } from '@firsthand/contract/limits';
import { audienceTypes } from '@firsthand/contract/webhook';
import { Refusal } from '../../shared/refusal.ts';
import type { Audience, DueAudience, RequestOf, WebhookSettings } from '../store.ts';
import type { ContactParts } from './contact-store.ts';
import { recordFactFor } from './facts.ts';
import { all, createQuery, db, first, type Operation, run } from './operation.ts';

const segmentsOf = ({ types, filter }: Pick<WebhookSettings, 'types' | 'filter'>): readonly string[] =>
  audienceTypes.some((type) => types.includes(type)) ? (filter.segmentNames ?? []) : [];

function* requireSegments(account: number, segmentNames: readonly string[]): Operation<void> {
  const saved = yield* all(
    db
      .selectFrom('report_segment')
      .select('segmentName')
      .where('account', '=', account)
      .where('segmentName', 'in', segmentNames),
  );
  for (const segmentName of segmentNames) {
    if (saved.some((segment) => segment.segmentName === segmentName)) continue;
    const message = `\`segmentName\` has “${segmentName}”, and the account has no segment with this name`;
    throw new Refusal('unknown_segment', { field: 'segmentName', message });
  }
}

/** Makes a webhook's audiences the segments of its settings. Lock the account before. */
export function* replaceAudiences(
  account: number,
  webhookID: string,
  settings: Pick<WebhookSettings, 'types' | 'filter'>,
): Operation<void> {
  const segmentNames = [...new Set(segmentsOf(settings))];
  const audiences = yield* all(
    db.selectFrom('webhook_audience').select(['audience', 'webhookID', 'segmentName']).where('account', '=', account),
  );
  const own = audiences.filter((audience) => audience.webhookID === webhookID);
  const surplus = own.filter(({ segmentName }) => !segmentNames.includes(segmentName));
  for (const { audience } of surplus)
    yield* run(db.deleteFrom('webhook_audience').where('account', '=', account).where('audience', '=', audience));
  const added = segmentNames.filter((name) => !own.some(({ segmentName }) => segmentName === name));
  if (added.length === 0) return;
  if (audiences.length - surplus.length + added.length > limits.audiencesPerAccount) {
    const message = `the webhooks of an account can have at most ${limits.audiencesPerAccount} segments in total`;
    throw new Refusal('invalid_field', { field: 'segmentName', message });
  }
  yield* requireSegments(account, added);
  const last = Math.max(0, ...audiences.map(({ audience }) => audience));
  const values = { account, webhookID, nextTime: 0, comparedTime: null, contacts: 0, problem: '' } as const;
  for (const [nth, segmentName] of added.entries())
    yield* run(db.insertInto('webhook_audience').values({ ...values, audience: last + nth + 1, segmentName }));
}

/** Throws Refusal('invalid_field') if a webhook sends the segment. Lock the account before. */
export function* requireNoAudience(account: number, segmentName: string): Operation<void> {
  const query = db.selectFrom('webhook_audience').select('audience');
  const audience = yield* first(query.where('account', '=', account).where('segmentName', '=', segmentName));
  if (audience === undefined) return;
  const message = 'a webhook sends the changes of this segment: remove the segment from the webhook first';
  throw new Refusal('invalid_field', { field: 'segmentName', message });
}

/** Compares the audiences of a segment soon, because its filter has changed. */
export const expediteAudiences = (account: number, segmentName: string): Operation<number> =>
  run(
    db
      .updateTable('webhook_audience')
      .set({ nextTime: 0 })
      .where('account', '=', account)
      .where('segmentName', '=', segmentName),
  );

export const listAudiences = ({ account }: RequestOf<'listAudiences'>): Operation<Audience[]> =>
  all(
    db
      .selectFrom('webhook_audience')
      .select(['webhookID', 'segmentName', 'comparedTime', 'contacts', 'problem'])
      .where('account', '=', account)
      .orderBy('segmentName'),
  );

export const listDueAudiences = ({ time }: RequestOf<'listDueAudiences'>): Operation<DueAudience[]> =>
  all(
    db
      .selectFrom('webhook_audience as a')
      .innerJoin('webhook as w', 'w.webhookID', 'a.webhookID')
      .select(['a.account', 'a.audience', 'a.segmentName', 'a.nextTime'])
      .where('w.state', '=', 'active')
      .where('a.nextTime', '<=', time)
      .orderBy('a.nextTime')
      .orderBy('a.account')
      .orderBy('a.audience'),
  );

/** Finds a fact that the webhook will still send. */
const selectUnsent = createQuery<{ sequence: number }>(
  ({ among }) => `
    SELECT f.sequence FROM webhook_fact f JOIN contact c ON c.account = f.account AND c.contact = f.contact
    WHERE f.account = $1 AND f.sequence > $2 AND f."webhookID" = $3 AND f.type ${among('$4', 'text')}
      AND coalesce(c."mergedInto", 0) <> c.contact
    LIMIT 1`,
);

const ofAudience = ({ account, audience }: { account: number; audience: number }) =>
  db
    .selectFrom('webhook_audience as a')
    .innerJoin('webhook as w', 'w.webhookID', 'a.webhookID')
    .select(['a.webhookID', 'a.segmentName', 'w.types', 'w.sentThrough'])
    .where('a.account', '=', account)
    .where('a.audience', '=', audience);

export function* claimAudience(request: RequestOf<'claimAudience'>): Operation<boolean> {
  const { account, audience, nextTime, until } = request;
  const row = yield* first(ofAudience(request));
  if (row === undefined) return false;
  const { webhookID, types, sentThrough } = row;
  if ((yield* first(selectUnsent(account, sentThrough, webhookID, JSON.parse(types)))) !== undefined) return false;
  const claim = db.updateTable('webhook_audience').set({ nextTime: until }).where('account', '=', account);
  return (yield* run(claim.where('audience', '=', audience).where('nextTime', '=', nextTime))) > 0;
}

export function* listAudienceContacts({ account, audience }: RequestOf<'listAudienceContacts'>): Operation<number[]> {
  const members = db.selectFrom('webhook_member').select('contact').where('account', '=', account);
  return (yield* all(members.where('audience', '=', audience))).map(({ contact }) => contact);
}

/** Contacts that were erased meanwhile are not added. */
const insertMembers = createQuery<{ contact: number }>(
  ({ among }) => `
    INSERT INTO webhook_member (account, audience, contact)
    SELECT account, $2, contact FROM contact
    WHERE account = $1 AND contact ${among('$3', 'bigint')} AND coalesce("mergedInto", 0) <> contact
    ON CONFLICT DO NOTHING RETURNING contact`,
);
const deleteMembers = createQuery<{ contact: number }>(
  ({ among }) => `
    DELETE FROM webhook_member WHERE account = $1 AND audience = $2 AND contact ${among('$3', 'bigint')}
    RETURNING contact`,
);

export function* changeAudience(
  { contacts: source }: Pick<ContactParts, 'contacts'>,
  request: RequestOf<'changeAudience'>,
): Operation<boolean> {
  const { account, audience, entered, left, time } = request;
  // Locks the webhook, so that its types and audiences don't change meanwhile.
  const row = yield* first(ofAudience(request).forUpdate('w'));
  if (row === undefined) return false;
  const { webhookID, segmentName, types } = row;
  const changes = [
    { type: 'segment.entered', contacts: yield* all(insertMembers(account, audience, entered)) },
    { type: 'segment.left', contacts: yield* all(deleteMembers(account, audience, left)) },
  ] as const;
  for (const { type, contacts } of changes) {
    if (!JSON.parse(types).includes(type)) continue;
    for (const { contact } of contacts)
      yield* recordFactFor(source, webhookID, { account, type, contact, detail: { segmentName }, time });
  }
  return true;
}

export function* recordComparison(request: RequestOf<'recordComparison'>): Operation<void> {
  const { account, audience, contacts, problem, time } = request;
  const changes = problem === '' ? { problem, contacts, comparedTime: time } : { problem };
  const update = db.updateTable('webhook_audience').set(changes).where('account', '=', account);
  yield* run(update.where('audience', '=', audience));
}
