/** What clients sent and what they were told, kept outside the server, to be compared with what the server holds. */
import { setTimeout as wait } from 'node:timers/promises';
import Database from '../../../src/store/sqlite/database/better-sqlite3.ts';

interface Sent {
  readonly userUUID: string;
  readonly eventUUID: string;
}

/** How a request ended: with a status, or without an answer and why. */
type Ending = { readonly status: number; readonly retryAfter: string | null } | { readonly broken: string };

interface LedgerOptions {
  /** Events in a batch of every fourth client; the others send singly. Or all, when they send `onlyBatches`. */
  readonly batch?: number;
  readonly onlyBatches?: boolean;
  /** Characters that each event of a batch carries along. */
  readonly ballast?: number;
  /** The wait after a request that was not answered 200. */
  readonly pauseMilliseconds?: number;
  /** Servers, one of which is asked for an event of its own as soon as it is acknowledged. */
  readonly readBack?: readonly string[];
}

export interface Load {
  stop(): Promise<void>;
}

interface Ledger {
  /** Sends events until stopped, singly and in batches. */
  send(url: string, token: string): Load;
  /** Sends one event; answers whether it was acknowledged. */
  sendOne(url: string, token: string): Promise<boolean>;
  /** Sends again what was not acknowledged. */
  settle(url: string, token: string): Promise<void>;
  /** Every event that was answered 200, as `userUUID eventUUID`. */
  readonly acknowledged: ReadonlySet<string>;
  /** Every event that was sent. */
  readonly made: number;
  /** How requests ended, and how often. */
  readonly endings: ReadonlyMap<string, number>;
  /** Answers 503 that did not say when to come again. */
  readonly withoutRetryAfter: number;
  /** Acknowledged events that the next read did not show. */
  readonly unseen: readonly string[];
}

/** Why there was no answer. */
const causeOf = (error: unknown): string => {
  const { code, message } = ((error as Error).cause ?? error) as Error & { code?: string };
  return code ?? message;
};

const keyOf = ({ userUUID, eventUUID }: Sent) => `${userUUID} ${eventUUID}`;

export const createLedger = (clients: number, options: LedgerOptions = {}): Ledger => {
  const { batch = 20, onlyBatches = false, ballast = 0, pauseMilliseconds = 5, readBack = [] } = options;
  const acknowledged = new Set<string>();
  const unacknowledged = new Set<Sent[]>();
  const endings = new Map<string, number>();
  /** Not twice the same: what events have in common is kept once. */
  const ballastOf = ({ eventUUID }: Sent) =>
    ballast > 0 ? { eventAttrArray: [{ attrID: 'ballast', attrValue: eventUUID.padEnd(ballast, 'x') }] } : {};
  let made = 0;
  let withoutRetryAfter = 0;
  const unseen: string[] = [];

  const count = (name: string) => endings.set(name, (endings.get(name) ?? 0) + 1);

  /** A read that is refused shows nothing, and promises nothing. An event that was sent again may be older than the newest page. */
  const read = async (token: string, event: Sent): Promise<void> => {
    const url = readBack[made % readBack.length];
    const headers = { Authorization: `Bearer ${token}` };
    let cursor = '';
    try {
      do {
        const query = `userUUID=${event.userUUID}&limit=${cursor === '' ? 100 : 1_000}&cursor=${encodeURIComponent(cursor)}`;
        const response = await fetch(`${url}/event/getEvent?${query}`, { headers });
        const page = (await response.json()) as { event: Sent[]; nextCursor: string };
        if (cursor === '' || !response.ok) count(`read ${response.status}`);
        if (!response.ok || page.event.some(({ eventUUID }) => eventUUID === event.eventUUID)) return;
        cursor = page.nextCursor;
      } while (cursor !== '');
      unseen.push(keyOf(event));
    } catch (error) {
      count(`read ${causeOf(error)}`);
    }
  };

  const make = (): Sent => {
    made += 1;
    return {
      userUUID: `user_${String(made % 50).padStart(16, '0')}`,
      eventUUID: `event_${String(made).padStart(10, '0')}`,
    };
  };

  const ask = async (url: string, body: object, single: boolean): Promise<Ending> => {
    try {
      const response = await fetch(`${url}/event/${single ? 'logEvent' : 'logEvents'}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      // The bytes of the answer may stop in the middle: then it was not answered.
      const answer = (await response.json()) as { event?: { status: string }[] };
      if (answer.event?.some(({ status }) => status !== '200')) return { broken: 'an event of a batch' };
      return { status: response.status, retryAfter: response.headers.get('Retry-After') };
    } catch (error) {
      return { broken: causeOf(error) };
    }
  };

  const post = async (url: string, token: string, events: Sent[]): Promise<boolean> => {
    const [first] = events;
    const single = events.length === 1;
    const body = single
      ? { tokenUUID: token, eventID: 1, ...first }
      : { tokenUUID: token, event: events.map((event) => ({ eventID: 2, ...event, ...ballastOf(event) })) };
    const ending = await ask(url, body, single);
    const name = 'status' in ending ? String(ending.status) : ending.broken;
    count(name);
    if ('status' in ending && ending.status === 503 && !(Number(ending.retryAfter) >= 1)) withoutRetryAfter += 1;
    if (name !== '200') {
      unacknowledged.add(events);
      return false;
    }
    for (const event of events) acknowledged.add(keyOf(event));
    unacknowledged.delete(events);
    if (readBack.length > 0) await read(token, events.at(-1) as Sent);
    return true;
  };

  return {
    acknowledged,
    endings,
    unseen,
    get made() {
      return made;
    },
    get withoutRetryAfter() {
      return withoutRetryAfter;
    },
    send(url, token) {
      let stopped = false;
      const client = async (number: number) => {
        while (!stopped) {
          const events = Array.from({ length: onlyBatches || number % 4 === 0 ? batch : 1 }, make);
          // The server is gone, or going: no need to ask it as fast as one can.
          if (!(await post(url, token, events))) await wait(pauseMilliseconds);
        }
      };
      const done = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
      return {
        async stop() {
          stopped = true;
          await done;
        },
      };
    },
    sendOne: (url, token) => post(url, token, [make()]),
    async settle(url, token) {
      const left = [...unacknowledged];
      const client = async () => {
        for (let events = left.pop(); events; events = left.pop()) {
          if (await post(url, token, events)) continue;
          throw new Error(`a settled server did not answer 200: ${JSON.stringify([...endings])}`);
        }
      };
      // All the clients at once would send more than a server holds: it may answer 503.
      await Promise.all(Array.from({ length: Math.min(clients, 8) }, client));
    },
  };
};

/** What a server holds, read page by page through getEvent. */
export const createReader = (token: string) => {
  const held: string[] = [];
  let after = '';
  return {
    /** Every event that was held so far, as `userUUID eventUUID`, in order; only what is new is asked for. */
    held: held as readonly string[],
    async readOn(url: string): Promise<readonly string[]> {
      for (;;) {
        const query = `order=asc&limit=1000&cursor=${encodeURIComponent(after)}`;
        const response = await fetch(`${url}/event/getEvent?${query}`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        if (!response.ok) throw new Error(`getEvent answered ${response.status}: ${await response.text()}`);
        const { event, nextCursor } = (await response.json()) as { event: Sent[]; nextCursor: string };
        // The last page has no cursor: it is read again when there is more.
        if (nextCursor === '') {
          const page = event.map(keyOf);
          return [...held, ...page];
        }
        for (const one of event) held.push(keyOf(one));
        after = nextCursor;
      }
    },
  };
};

/** Every event that the server holds, as `userUUID eventUUID`. */
export const readEverything = async (url: string, token: string): Promise<readonly string[]> =>
  createReader(token).readOn(url);

/** Every event that a database file holds, in order, when nobody serves it: far faster, where there are very many. */
export const readDatabase = (path: string): string[] => {
  const db = new Database(path, { readonly: true });
  try {
    const select = "SELECT u.userUUID || ' ' || e.eventUUID FROM event e JOIN user u USING (user) ORDER BY e.sequence";
    return db.prepare<[], string>(select).pluck().all();
  } finally {
    db.close();
  }
};

export interface Verdict {
  /** Acknowledged, and not there. */
  readonly lost: number;
  /** There more than once. */
  readonly twice: number;
}

export const judge = ({ acknowledged }: Pick<Ledger, 'acknowledged'>, held: readonly string[]): Verdict => {
  const found = new Set(held);
  return {
    lost: [...acknowledged].filter((key) => !found.has(key)).length,
    twice: held.length - found.size,
  };
};
