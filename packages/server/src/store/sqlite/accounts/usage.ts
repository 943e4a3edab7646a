/** Measures an account: its contact, user and event counts, and its size. */
import { storedBytesOf } from '../../rules/row-bytes.ts';
import type { AccountDetail } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';

/** The rows per step, which takes a few milliseconds. An account may have millions of users. */
const rowsPerStep = 20_000;
/** The rows per step if a step also reads their content. */
const contentsPerStep = 2_000;

/**
 * The result of a step: the numbers of rows read (`looked`) and counted, the bytes of the counted rows, and the last
 * key, after which the next step starts.
 */
interface StepCount<Key> {
  readonly looked: number;
  readonly count: number;
  readonly bytes: number;
  readonly last: Key;
}

interface StepCounter<Key> {
  get(account: number, after: Key): StepCount<Key> | undefined;
}

function* countInSteps<Key>(counter: StepCounter<Key>, account: number, first: Key, limit: number) {
  const sum = { rows: 0, count: 0, bytes: 0 };
  for (let after = first; ; ) {
    const { looked, count, bytes, last } = counter.get(account, after) as StepCount<Key>;
    sum.rows += looked;
    sum.count += count;
    sum.bytes += bytes;
    if (looked < limit) return sum;
    after = last;
    yield;
  }
}

type Usage = Pick<AccountDetail, 'usage' | 'storedBytes'>;

export const createUsageReader = (db: Connection): ((account: number) => ChunkedRead<Usage>) => {
  const users = db.prepare<[number, string], StepCount<string>>(`
    SELECT count(*) AS looked, count(*) AS count, 0 AS bytes, max(userUUID) AS last
    FROM (SELECT userUUID FROM user WHERE account = ? AND userUUID > ? ORDER BY userUUID LIMIT ${rowsPerStep})`);
  // Scans the address index twice: contacts without an address come first in it, by number.
  const countContacts = <Key>(key: string, isNext: string) =>
    db.prepare<[number, Key], StepCount<Key>>(`
      SELECT count(*) AS looked, count(*) - count(mergedInto) AS count, coalesce(sum(bytes), 0) AS bytes, max(${key}) AS last
      FROM (SELECT ${key}, mergedInto, coalesce(length(contactExternalID), 0) + coalesce(
          (SELECT sum(length(attrID) + length(attrValue)) FROM contact_attr WHERE contact_attr.contact = contact.contact), 0
        ) AS bytes
        FROM contact WHERE account = ? AND ${isNext} ORDER BY ${key} LIMIT ${contentsPerStep})`);
  const contacts = countContacts<string>('contactEmailaddress', 'contactEmailaddress > ?');
  const withoutAddress = countContacts<number>('contact', 'contactEmailaddress IS NULL AND contact > ?');
  const claims = db.prepare<[number, number], StepCount<number>>(`
    SELECT count(*) AS looked, count(*) AS count, coalesce(sum(length(said)), 0) AS bytes, max(claim) AS last
    FROM (SELECT claim, said FROM claim WHERE account = ? AND claim > ? ORDER BY claim LIMIT ${contentsPerStep})`);
  const events = db.prepare<[number], { count: number; bytes: number }>(
    'SELECT coalesce(sum(count), 0) AS count, coalesce(sum(bytes), 0) AS bytes FROM account_day WHERE account = ?',
  );

  return function* usageOf(account) {
    const ofUsers = yield* countInSteps(users, account, '', rowsPerStep);
    const ofContacts = yield* countInSteps(contacts, account, '', contentsPerStep);
    const ofOthers = yield* countInSteps(withoutAddress, account, 0, contentsPerStep);
    const ofClaims = yield* countInSteps(claims, account, 0, contentsPerStep);
    const ofEvents = events.get(account) as { count: number; bytes: number };
    return {
      usage: { contacts: ofContacts.count + ofOthers.count, users: ofUsers.count, events: ofEvents.count },
      storedBytes: storedBytesOf({
        users: ofUsers.rows,
        contacts: ofContacts.rows + ofOthers.rows,
        claims: ofClaims.rows,
        eventBytes: ofEvents.bytes,
        valueBytes: ofContacts.bytes + ofOthers.bytes + ofClaims.bytes,
      }),
    };
  };
};
