/**
 * Operations on webhooks. The sequence of events and statements is their outbox: a webhook stores the position up to
 * which it has sent, and only its failed deliveries have rows.
 */
import { limits } from '@firsthand/contract/limits';
import { sql } from 'kysely';
import { Refusal } from '../../shared/refusal.ts';
import type { Delivery, RequestOf, Webhook } from '../store.ts';
import { replaceAudiences } from './audiences.ts';
import { all, createQuery, db, first, lockAccount, type Operation, run } from './operation.ts';
import { lockCreator } from './tokens.ts';

const unknownWebhook = () => new Refusal('unknown_webhook', { field: 'webhookID' });

export function* createWebhook(request: RequestOf<'createWebhook'>): Operation<void> {
  const { account, webhookID, url, description, types, filter, payload, sentThrough, by = null, time } = request;
  yield* lockAccount(account);
  if (by !== null) yield* lockCreator(by, time);
  const webhooks = yield* all(db.selectFrom('webhook').select('webhookID').where('account', '=', account));
  if (webhooks.length >= limits.webhooksPerAccount) {
    const message = `the account already has ${limits.webhooksPerAccount} webhooks: delete one with deleteWebhook`;
    throw new Refusal('invalid_field', { field: 'url', message });
  }
  yield* run(
    db.insertInto('webhook').values({
      ...{ account, webhookID, url, description, payload, sentThrough },
      ...{ types: JSON.stringify(types), filter: JSON.stringify(filter) },
      ...{ state: 'active', disabledReason: '', failures: 0, waitUntil: 0 },
      ...{ secretTime: time, previousSecretTime: null, leasedBy: '', leasedUntil: 0 },
      ...{ lastSuccessTime: null, lastFailureTime: null, lastFailure: '' },
      ...{ skippedEvents: 0, skippedFrom: 0, skippedThrough: 0 },
      ...{ createdTime: time, createdBy: by, updatedTime: time },
    }),
  );
  yield* replaceAudiences(account, webhookID, { types, filter });
}

const toWebhook = (row: Omit<Webhook, 'types' | 'filter'> & { types: string; filter: string }): Webhook => ({
  ...row,
  retrying: Number(row.retrying),
  types: JSON.parse(row.types),
  filter: JSON.parse(row.filter),
});

const selectWebhooks = () =>
  db
    .selectFrom('webhook as w')
    .select(['account', 'webhookID', 'url', 'description', 'types', 'filter', 'payload', 'state', 'disabledReason'])
    .select(['secretTime', 'previousSecretTime', 'sentThrough', 'failures', 'waitUntil', 'leasedBy', 'leasedUntil'])
    .select(['lastSuccessTime', 'lastFailureTime', 'lastFailure', 'createdTime', 'updatedTime'])
    .select(['skippedEvents', 'skippedFrom', 'skippedThrough'])
    .select((eb) => {
      const retries = eb
        .selectFrom('webhook_delivery as d')
        .whereRef('d.webhookID', '=', 'w.webhookID')
        .where('d.nextTime', 'is not', null);
      return [
        retries
          .select((of) => of.fn.countAll<number>().as('count'))
          .$asScalar()
          .$notNull()
          .as('retrying'),
        retries.select((of) => of.fn.min<number | null>('d.nextTime').as('next')).as('nextRetryTime'),
      ];
    });

export function* listWebhooks({ account }: RequestOf<'listWebhooks'>): Operation<Webhook[]> {
  const webhooks = selectWebhooks().orderBy('createdTime').orderBy('webhookID');
  const rows = yield* all(
    account === undefined ? webhooks.where('state', '=', 'active') : webhooks.where('account', '=', account),
  );
  return rows.map(toWebhook);
}

/** Moves a cursor forward. It never moves back, because another request may have moved it further. */
const advance = (sentThrough: number) => ({
  sentThrough: sql<number>`CASE WHEN "sentThrough" < ${sentThrough} THEN ${sentThrough} ELSE "sentThrough" END`,
});

export function* updateWebhook(request: RequestOf<'updateWebhook'>): Operation<void> {
  const { account, webhookID, changes, time } = request;
  const { types, filter, sentThrough, ...columns } = changes;
  const changesAudiences = types !== undefined || filter !== undefined;
  if (changesAudiences) yield* lockAccount(account);
  const updated = yield* run(
    db
      .updateTable('webhook')
      .set({
        ...columns,
        ...(types && { types: JSON.stringify(types) }),
        ...(filter && { filter: JSON.stringify(filter) }),
        ...(sentThrough !== undefined && advance(sentThrough)),
        ...(columns.state !== undefined && { disabledReason: '', failures: 0, waitUntil: 0 }),
        updatedTime: time,
      })
      .where('account', '=', account)
      .where('webhookID', '=', webhookID),
  );
  if (updated === 0) throw unknownWebhook();
  if (!changesAudiences) return;
  const [row] = yield* all(db.selectFrom('webhook').select(['types', 'filter']).where('webhookID', '=', webhookID));
  const settings = { types: JSON.parse(row?.types ?? '[]'), filter: JSON.parse(row?.filter ?? '{}') };
  yield* replaceAudiences(account, webhookID, settings);
}

export function* rotateWebhookSecret(request: RequestOf<'rotateWebhookSecret'>): Operation<{ secretTime: number }> {
  const { account, webhookID, time } = request;
  const row = yield* first(
    db
      .selectFrom('webhook')
      .select('secretTime')
      .where('account', '=', account)
      .where('webhookID', '=', webhookID)
      .forUpdate(),
  );
  if (!row) throw unknownWebhook();
  const previousSecretTime = row.secretTime;
  const secretTime = Math.max(time, previousSecretTime + 1);
  yield* run(
    db
      .updateTable('webhook')
      .set({ secretTime, previousSecretTime, updatedTime: time })
      .where('webhookID', '=', webhookID),
  );
  return { secretTime };
}

export function* deleteWebhook({ account, webhookID }: RequestOf<'deleteWebhook'>): Operation<void> {
  const deleted = yield* run(
    db.deleteFrom('webhook').where('account', '=', account).where('webhookID', '=', webhookID),
  );
  if (deleted === 0) throw unknownWebhook();
}

const updateLease = createQuery<never>(
  ({ name }) => `
    UPDATE webhook SET "leasedBy" = $2, "leasedUntil" = $5
    WHERE "webhookID" = $1 AND state = 'active' AND "sentThrough" = $3 AND "waitUntil" <= $4
      AND ("leasedBy" = $2 OR "leasedUntil" <= $4 ${name === 'sqlite' ? 'OR TRUE' : ''})`,
);

/** A SQLite file has only one server, so any earlier lease has ended. */
export function* leaseWebhook(request: RequestOf<'leaseWebhook'>): Operation<boolean> {
  const { webhookID, server, sentThrough, time, until } = request;
  return (yield* run(updateLease(webhookID, server, sentThrough, time, until))) > 0;
}

const putDelivery = (account: number, webhookID: string, delivery: Delivery) =>
  run(
    db
      .insertInto('webhook_delivery')
      .values({ account, webhookID, ...delivery })
      .onConflict((conflict) => conflict.columns(['webhookID', 'sequence']).doUpdateSet({ ...delivery })),
  );

const deleteDeliveries = createQuery<never>(
  ({ among }) => `DELETE FROM webhook_delivery WHERE "webhookID" = $1 AND sequence ${among('$2', 'bigint')}`,
);

/**
 * Deletes the oldest deliveries that get no further attempts, except the newest `limits.failedDeliveriesPerWebhook`.
 */
const trimFailed = createQuery<never>(
  () => `
    DELETE FROM webhook_delivery WHERE "webhookID" = $1 AND "nextTime" IS NULL AND sequence <= (
      SELECT sequence FROM webhook_delivery WHERE "webhookID" = $1 AND "nextTime" IS NULL
      ORDER BY sequence DESC LIMIT 1 OFFSET ${limits.failedDeliveriesPerWebhook})`,
);

export function* recordDeliveries(record: RequestOf<'recordDeliveries'>): Operation<Webhook | undefined> {
  const { webhookID, server, time, sentThrough, failures, waitUntil, succeeded, failure } = record;
  const row = yield* first(
    db
      .selectFrom('webhook')
      .select(['account', 'leasedUntil'])
      .where('webhookID', '=', webhookID)
      .where('leasedBy', '=', server)
      .forUpdate(),
  );
  if (!row) return undefined;
  yield* run(
    db
      .updateTable('webhook')
      .set({
        ...{ ...advance(sentThrough), failures, waitUntil, leasedUntil: 0 },
        ...(succeeded && { lastSuccessTime: time }),
        ...(failure !== undefined && { lastFailureTime: time, lastFailure: failure }),
        ...(record.disabledReason && { state: 'disabled', disabledReason: record.disabledReason }),
      })
      .where('webhookID', '=', webhookID),
  );
  if (record.resolved.length > 0) yield* run(deleteDeliveries(webhookID, record.resolved));
  // An erasure has ended the lease, and a response may repeat the erased contact's values.
  const hidden = row.leasedUntil === 0 ? { response: '' } : {};
  for (const delivery of record.failed) yield* putDelivery(row.account, webhookID, { ...delivery, ...hidden });
  if (record.failed.some(({ nextTime }) => nextTime === null)) yield* run(trimFailed(webhookID));
  const recorded = yield* first(selectWebhooks().where('webhookID', '=', webhookID));
  return recorded && toWebhook(recorded);
}

const selectBehind = createQuery<{ webhookID: string; sentThrough: number; types: string }>(
  () => 'SELECT "webhookID", "sentThrough", types FROM webhook WHERE account = $1 AND "sentThrough" < $2',
);
const addSkipped = createQuery<never>(
  () => `
    UPDATE webhook SET "skippedEvents" = "skippedEvents" + $2, "skippedThrough" = $4,
      "skippedFrom" = CASE WHEN "skippedEvents" = 0 THEN $3 ELSE "skippedFrom" END
    WHERE "webhookID" = $1`,
);

/** Records the events, ascending by sequence, that retention deletes before a webhook of the account has sent them. */
export function* recordSkippedEvents(account: number, sequences: readonly number[]): Operation<void> {
  const last = sequences.at(-1);
  if (last === undefined) return;
  for (const { webhookID, sentThrough, types } of yield* all(selectBehind(account, last))) {
    if (!JSON.parse(types).includes('event.logged')) continue;
    const skipped = sequences.filter((sequence) => sequence > sentThrough);
    yield* run(addSkipped(webhookID, skipped.length, skipped[0], last));
  }
}

export function* listDeliveries(query: RequestOf<'listDeliveries'>): Operation<Delivery[]> {
  const { webhookID, dueTime, after = 0, through = Number.MAX_SAFE_INTEGER, limit } = query;
  const rows = db
    .selectFrom('webhook_delivery')
    .select(['sequence', 'attempts', 'firstTime', 'lastTime', 'nextTime', 'httpStatus', 'error', 'response'])
    .where('webhookID', '=', webhookID)
    .where('sequence', '>', after)
    .where('sequence', '<=', through)
    .limit(limit);
  if (dueTime === undefined) return yield* all(rows.orderBy('sequence'));
  return yield* all(rows.where('nextTime', '<=', dueTime).orderBy('nextTime').orderBy('sequence'));
}

export function* resendDeliveries(request: RequestOf<'resendDeliveries'>): Operation<void> {
  const { account, webhookID, sequences, time } = request;
  const row = yield* first(
    db
      .selectFrom('webhook')
      .select('webhookID')
      .where('account', '=', account)
      .where('webhookID', '=', webhookID)
      .forUpdate(),
  );
  if (!row) throw unknownWebhook();
  const retry = { attempts: 0, firstTime: time, lastTime: time, nextTime: time, httpStatus: null };
  for (const sequence of sequences)
    yield* putDelivery(account, webhookID, { ...retry, sequence, error: '', response: '' });
  const changed = yield* first(selectWebhooks().where('webhookID', '=', webhookID));
  if (Number(changed?.retrying) > limits.retriesPerWebhook) {
    const limit = limits.retriesPerWebhook;
    const message = `at most ${limit} messages of a webhook can wait to be sent again: choose a shorter range, or wait`;
    throw new Refusal('invalid_field', { field: 'sequence', message });
  }
}
