/**
 * A process that sends requests as fast as the responses arrive, or at a given rate. It uses raw sockets, because an HTTP client costs more
 * than the server, and requests prepared in advance, in which it replaces only the identifiers.
 */
import { connect, type Socket } from 'node:net';
import { createLatencies } from '../latencies.ts';
import { attributesOf, createRandom, userName } from '../visits.ts';

export interface Load {
  readonly port: number;
  /** Several: the requests are those of as many accounts, in turn. */
  readonly token: string | readonly string[];
  readonly connections: number;
  readonly milliseconds: number;
  /** The content of a request: a number of events, or a contact to create. */
  readonly request: { readonly events: number } | 'contact';
  /** Requests a second; undefined: as fast as the responses arrive. */
  readonly requestsPerSecond?: number;
  /** 10,000 users send the events: this one and those with the next numbers. Each of several accounts has as many of them. */
  readonly firstUser?: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly events: number;
  /** Milliseconds from the request to its response; at a given rate, from the time when it was due. */
  readonly p50: number;
  readonly p99: number;
  /** Responses other than 200. */
  readonly refused: number;
  /** The share of one core that this process used, from 0 to 1. Near 1, this process was the bottleneck. */
  readonly cores: number;
}

const users = 10_000;
/** Different requests that each connection sends in turn, at least. */
const leastVariety = 16;
/** The length of user names and eventUUIDs. */
const nameLength = userName(0).length;
const random = createRandom(Date.now());
const run = Date.now().toString(36).padStart(9, '0');
let made = 0;

/** A request, and the offsets of the identifiers that are replaced each time. */
interface Template {
  /** The number of its account, from 0. */
  readonly account: number;
  readonly bytes: Buffer;
  readonly userAt: readonly number[];
  readonly idAt: readonly number[];
}

const userMark = 'U'.repeat(nameLength);
const idMark = 'I'.repeat(run.length + 12);

const eventText = (): string => {
  const attributes = attributesOf(random).map(([attrID, attrValue]) => ({ attrID, attrValue }));
  const eventID = 1 + Math.floor(random() * 20);
  return JSON.stringify({ eventID, eventUUID: idMark, userUUID: userMark, eventAttrArray: attributes });
};

const tokensOf = ({ token }: Load): readonly string[] => (typeof token === 'string' ? [token] : token);

const bodyOf = ({ request }: Load, token: string): { path: string; body: string } => {
  const tokenText = `{"tokenUUID":"${token}",`;
  if (request === 'contact') {
    const contact = { userUUID: userMark, contactEmailaddress: `${idMark}@example.com`, contactProfileID: 'visitor' };
    return { path: '/contact/createContact', body: tokenText + JSON.stringify(contact).slice(1) };
  }
  if (request.events === 1) return { path: '/event/logEvent', body: tokenText + eventText().slice(1) };
  const events = Array.from({ length: request.events }, eventText);
  return { path: '/event/logEvents', body: `${tokenText}"event":[${events.join(',')}]}` };
};

const placesOf = (mark: string, text: string): number[] =>
  [...text.matchAll(new RegExp(mark, 'g'))].map((m) => m.index);

const createTemplate = (load: Load, account: number): Template => {
  const { path, body } = bodyOf(load, tokensOf(load)[account] as string);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  const text = head + body;
  return {
    account,
    bytes: Buffer.from(text, 'latin1'),
    userAt: placesOf(userMark, text),
    idAt: placesOf(idMark, text),
  };
};

/** The request with new identifiers. A contact belongs to a new user. */
const renew = ({ account, bytes, userAt, idAt }: Template, load: Load): Buffer => {
  const { firstUser = 0, request } = load;
  const accounts = tokensOf(load).length;
  const usersOfEach = Math.max(1, Math.floor(users / accounts));
  for (let nth = 0; nth < idAt.length; nth += 1) {
    made += 1;
    const user =
      request === 'contact' ? `${run}${made}` : firstUser + account + accounts * ((made * 7919) % usersOfEach);
    const name = typeof user === 'number' ? userName(user) : user.padEnd(nameLength, '-');
    bytes.write(name, userAt[nth] as number, 'latin1');
    bytes.write(run + made.toString(36).padStart(12, '0'), idAt[nth] as number, 'latin1');
  }
  return bytes;
};

/** The requests of one of the connections: together, those of all connections are of all tokens. */
const createTemplates = (load: Load, connection: number): Template[] => {
  const accounts = tokensOf(load).length;
  const variety = Math.max(leastVariety, Math.ceil(accounts / load.connections));
  return Array.from({ length: variety }, (_, nth) =>
    createTemplate(load, (connection + nth * load.connections) % accounts),
  );
};

/** Sends one request after the other on a connection. Calls `onAnswer` with each response. */
const openConnection = (load: Load, nth: number, onAnswer: (kept: boolean) => void) =>
  new Promise<{ send(): void; close(): void }>((resolve, reject) => {
    const templates = createTemplates(load, nth);
    let sent = 0;
    let received = '';
    let wholeLength = 0;
    const answered = (kept: boolean) => {
      received = '';
      onAnswer(kept);
    };
    const read = (length: number, buffer: Uint8Array): boolean => {
      const chunk = buffer as Buffer;
      const is200 = chunk[9] === 50 && chunk[10] === 48 && chunk[11] === 48;
      // The responses all have one length.
      if (received === '' && length === wholeLength && is200) {
        answered(true);
        return true;
      }
      received += chunk.toString('latin1', 0, length);
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return true;
      const bodyLength = /content-length: (\d+)/i.exec(received)?.[1];
      const complete =
        bodyLength === undefined ? received.endsWith('0\r\n\r\n') : received.length >= headEnd + 4 + Number(bodyLength);
      if (!complete) return true;
      const kept = received.startsWith('HTTP/1.1 200');
      if (kept && bodyLength !== undefined) wholeLength = received.length;
      answered(kept);
      return true;
    };
    const socket: Socket = connect({
      host: '127.0.0.1',
      port: load.port,
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(64 * 1024), callback: read },
    });
    socket.on('error', reject);
    socket.on('connect', () =>
      resolve({
        send: () => {
          socket.write(renew(templates[sent++ % templates.length] as Template, load));
        },
        close: () => socket.destroy(),
      }),
    );
  });

/** Milliseconds between two checks for due requests. */
const tickMilliseconds = 1;

const runLoad = async (load: Load): Promise<LoadResult> => {
  const latencies = createLatencies();
  const rate = load.requestsPerSecond;
  let kept = 0;
  let refused = 0;
  let sent = 0;
  let running = true;
  const idle: (() => void)[] = [];
  let start = performance.now();
  const dueTime = (nth: number) => start + (nth / (rate as number)) * 1_000;

  const connections = await Promise.all(
    Array.from({ length: load.connections }, async (_, nth) => {
      let startedAt = 0;
      const sendAt = (time: number) => {
        sent += 1;
        startedAt = time;
        connection.send();
      };
      const wait = () => idle.push(() => sendAt(performance.now()));
      const connection = await openConnection(load, nth, (isKept) => {
        const now = performance.now();
        latencies.record(now - startedAt);
        if (isKept) kept += 1;
        else refused += 1;
        if (!running) return;
        if (rate === undefined) sendAt(now);
        // The next request had to wait for this response, so the wait counts.
        else if (dueTime(sent) <= now) sendAt(dueTime(sent));
        else wait();
      });
      if (rate !== undefined) wait();
      return { close: connection.close, begin: () => sendAt(performance.now()) };
    }),
  );

  const cpu = process.cpuUsage();
  start = performance.now();
  if (rate === undefined) for (const { begin } of connections) begin();
  const ticking =
    rate === undefined
      ? undefined
      : setInterval(() => {
          const now = performance.now();
          while (dueTime(sent) <= now && idle.length > 0) idle.pop()?.();
        }, tickMilliseconds);
  await new Promise((resolve) => setTimeout(resolve, load.milliseconds));
  running = false;
  clearInterval(ticking);
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  for (const { close } of connections) close();
  const eventsPerRequest = load.request === 'contact' ? 0 : load.request.events;
  return {
    requestsPerSecond: kept / seconds,
    eventsPerSecond: (kept * eventsPerRequest) / seconds,
    events: kept * eventsPerRequest,
    p50: latencies.quantile(0.5),
    p99: latencies.quantile(0.99),
    refused,
    cores: (user + system) / 1e6 / seconds,
  };
};

process.on('message', async (load: Load) => process.send?.(await runLoad(load)));
process.on('disconnect', () => process.exit());
