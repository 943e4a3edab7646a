/** Records what clients sent and how the server responded, so that both can be compared with what the server stores. */
import { setTimeout as wait } from 'node:timers/promises';
import Database from '../../../src/store/sqlite/database/better-sqlite3.ts';

interface SentEvent {
  readonly userUUID: string;
  readonly eventUUID: string;
}

/** How a request ended: with a status, or without a response for a reason. */
type Ending = { readonly status: number; readonly retryAfter: string | null } | { readonly broken: string };

interface LedgerOptions {
  /**
   * The number of events in a batch. Every fourth client sends batches, the others single events; with `onlyBatches`,
   * all clients send batches.
   */
  readonly batch?: number;
  readonly onlyBatches?: boolean;
  /** Characters of padding in each event in a batch. */
  readonly ballast?: number;
  /** The pause after a request without a 200. */
  readonly pauseMilliseconds?: number;
  /** Server URLs. One of these servers must return each event as soon as it is acknowledged. */
  readonly readBack?: readonly string[];
}

export interface Load {
  stop(): Promise<void>;
}

interface Ledger {
  /** Sends events until stopped, both singly and in batches. */
  send(url: string, token: string): Load;
  /** Sends one event. Returns whether it was acknowledged. */
  sendOne(url: string, token: string): Promise<boolean>;
  /** Retries the events that were not acknowledged. */
  settle(url: string, token: string): Promise<void>;
  /** Every event with a 200 response, as `userUUID eventUUID`. */
  readonly acknowledged: ReadonlySet<string>;
  /** The number of distinct events sent. */
  readonly sentCount: number;
  /** The number of requests for each ending: a status, or the reason why there was no response. */
  readonly endings: ReadonlyMap<string, number>;
  /** The number of 503 responses without Retry-After. */
  readonly withoutRetryAfter: number;
  /** Acknowledged events that were missing from the next read. */
  readonly unseen: readonly string[];
}

/** The reason why there was no response. */
const causeOf = (error: unknown): string => {
  const { code, message } = ((error as Error).cause ?? error) as Error & { code?: string };
  return code ?? message;
};

const keyOf = ({ userUUID, eventUUID }: SentEvent) => `${userUUID} ${eventUUID}`;

export const createLedger = (clients: number, options: LedgerOptions = {}): Ledger => {
  const { batch = 20, onlyBatches = false, ballast = 0, pauseMilliseconds = 5, readBack = [] } = options;
  const acknowledged = new Set<string>();
  const unacknowledged = new Set<SentEvent[]>();
  const endings = new Map<string, number>();
  /** Different for each event, because the store deduplicates common content. */
  const ballastOf = ({ eventUUID }: SentEvent) =>
    ballast > 0 ? { eventAttrArray: [{ attrID: 'ballast', attrValue: eventUUID.padEnd(ballast, 'x') }] } : {};
  let sent = 0;
  let withoutRetryAfter = 0;
  const unseen: string[] = [];

  const count = (name: string) => endings.set(name, (endings.get(name) ?? 0) + 1);

  /**
   * Reads events back. A refused read proves nothing. Reads further pages, because a retried event can be older than
   * the first page's events.
   */
  const checkReadBack = async (token: string, event: SentEvent): Promise<void> => {
    const url = readBack[sent % readBack.length];
    const headers = { Authorization: `Bearer ${token}` };
    let cursor = '';
    try {
      do {
        const query = `userUUID=${event.userUUID}&limit=${cursor === '' ? 100 : 1_000}&cursor=${encodeURIComponent(cursor)}`;
        const response = await fetch(`${url}/event/getEvent?${query}`, { headers });
        const page = (await response.json()) as { event: SentEvent[]; nextCursor: string };
        if (cursor === '' || !response.ok) count(`read ${response.status}`);
        if (!response.ok || page.event.some(({ eventUUID }) => eventUUID === event.eventUUID)) return;
        cursor = page.nextCursor;
      } while (cursor !== '');
      unseen.push(keyOf(event));
    } catch (error) {
      count(`read ${causeOf(error)}`);
    }
  };

  const createEvent = (): SentEvent => {
    sent += 1;
    return {
      userUUID: `user_${String(sent % 50).padStart(16, '0')}`,
      eventUUID: `event_${String(sent).padStart(10, '0')}`,
    };
  };

  const request = async (url: string, body: object, single: boolean): Promise<Ending> => {
    try {
      const response = await fetch(`${url}/event/${single ? 'logEvent' : 'logEvents'}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      // Rejects if the response is cut off in the middle.
      const parsed = (await response.json()) as { event?: { status: string }[] };
      if (parsed.event?.some(({ status }) => status !== '200')) return { broken: 'an event in a batch' };
      return { status: response.status, retryAfter: response.headers.get('Retry-After') };
    } catch (error) {
      return { broken: causeOf(error) };
    }
  };

  const post = async (url: string, token: string, events: SentEvent[]): Promise<boolean> => {
    const [first] = events;
    const single = events.length === 1;
    const body = single
      ? { tokenUUID: token, eventID: 1, ...first }
      : { tokenUUID: token, event: events.map((event) => ({ eventID: 2, ...event, ...ballastOf(event) })) };
    const ending = await request(url, body, single);
    const name = 'status' in ending ? String(ending.status) : ending.broken;
    count(name);
    if ('status' in ending && ending.status === 503 && !(Number(ending.retryAfter) >= 1)) withoutRetryAfter += 1;
    if (name !== '200') {
      unacknowledged.add(events);
      return false;
    }
    for (const event of events) acknowledged.add(keyOf(event));
    unacknowledged.delete(events);
    if (readBack.length > 0) await checkReadBack(token, events.at(-1) as SentEvent);
    return true;
  };

  return {
    acknowledged,
    endings,
    unseen,
    get sentCount() {
      return sent;
    },
    get withoutRetryAfter() {
      return withoutRetryAfter;
    },
    send(url, token) {
      let stopped = false;
      const client = async (number: number) => {
        while (!stopped) {
          const events = Array.from({ length: onlyBatches || number % 4 === 0 ? batch : 1 }, createEvent);
          // Pauses, because the server is down or stopping.
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
    sendOne: (url, token) => post(url, token, [createEvent()]),
    async settle(url, token) {
      const left = [...unacknowledged];
      const client = async () => {
        for (let events = left.pop(); events; events = left.pop()) {
          if (await post(url, token, events)) continue;
          throw new Error(`a healthy server did not respond 200: ${JSON.stringify([...endings])}`);
        }
      };
      // Limits concurrency: more concurrent clients could exceed the server's limits, so that it responds with 503.
      await Promise.all(Array.from({ length: Math.min(clients, 8) }, client));
    },
  };
};

/** Reads what a server stores, page by page through getEvent. */
export const createReader = (token: string) => {
  const held: string[] = [];
  let after = '';
  return {
    /** The events read so far, as `userUUID eventUUID`, in order. `readOn` requests only newer events. */
    held: held as readonly string[],
    async readOn(url: string): Promise<readonly string[]> {
      for (;;) {
        const query = `order=asc&limit=1000&cursor=${encodeURIComponent(after)}`;
        const response = await fetch(`${url}/event/getEvent?${query}`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        if (!response.ok) throw new Error(`getEvent answered ${response.status}: ${await response.text()}`);
        const { event, nextCursor } = (await response.json()) as { event: SentEvent[]; nextCursor: string };
        // Does not advance: the last page has no cursor, so the next call reads it again.
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

/** Every event that the server stores, as `userUUID eventUUID`. */
export const readEverything = async (url: string, token: string): Promise<readonly string[]> =>
  createReader(token).readOn(url);

/**
 * Every event in a database file, in order, while no server uses the file. Much faster than `readEverything` for many
 * events.
 */
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
  /** Acknowledged events that are missing. */
  readonly lost: number;
  /** Events that are stored more than once. */
  readonly twice: number;
}

export const judge = ({ acknowledged }: Pick<Ledger, 'acknowledged'>, held: readonly string[]): Verdict => {
  const stored = new Set(held);
  return {
    lost: [...acknowledged].filter((key) => !stored.has(key)).length,
    twice: held.length - stored.size,
  };
};
