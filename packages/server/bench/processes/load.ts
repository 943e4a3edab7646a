/**
 * A process that sends requests as fast as the responses arrive, or at a given rate. It uses raw sockets, because an
 * HTTP client uses more CPU time than the server. In prepared requests, it replaces only the identifiers.
 */
import { connect, type Socket } from 'node:net';
import { createLatencies } from '../latencies.ts';
import { createAttributes, createRandom, userName } from '../visits.ts';

export interface Load {
  readonly port: number;
  /** With several tokens, the requests alternate between their accounts. */
  readonly token: string | readonly string[];
  readonly connections: number;
  readonly milliseconds: number;
  /** What each request contains: a number of events, or a contact to create. */
  readonly request: { readonly events: number } | 'contact';
  /** Undefined to send requests as fast as the responses arrive. */
  readonly requestsPerSecond?: number;
  /** The first of 10,000 consecutive users who send the events, divided equally among the accounts. */
  readonly firstUser?: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly events: number;
  /** Milliseconds from the request to its response or, at a given rate, from the time when the request was due. */
  readonly p50: number;
  readonly p99: number;
  /** Responses other than 200. */
  readonly refused: number;
  /** The cores that this process used. Near 1, this process was the bottleneck. */
  readonly cores: number;
}

const users = 10_000;
/** The minimum number of different requests that each connection cycles through. */
const minVariety = 16;
/** The length of user names and eventUUIDs. */
const nameLength = userName(0).length;
const random = createRandom(Date.now());
const run = Date.now().toString(36).padStart(9, '0');
let created = 0;

/** A request, and the offsets of the identifiers to replace. */
interface Template {
  /** The index of the request's account. */
  readonly account: number;
  readonly bytes: Buffer;
  readonly userAt: readonly number[];
  readonly idAt: readonly number[];
}

const userMark = 'U'.repeat(nameLength);
const idMark = 'I'.repeat(run.length + 12);

const eventText = (): string => {
  const attributes = createAttributes(random).map(([attrID, attrValue]) => ({ attrID, attrValue }));
  const eventID = 1 + Math.floor(random() * 20);
  return JSON.stringify({ eventID, eventUUID: idMark, userUUID: userMark, eventAttrArray: attributes });
};

const toTokens = ({ token }: Load): readonly string[] => (typeof token === 'string' ? [token] : token);

const createBody = ({ request }: Load, token: string): { path: string; body: string } => {
  const tokenText = `{"tokenUUID":"${token}",`;
  if (request === 'contact') {
    const contact = { userUUID: userMark, contactEmailaddress: `${idMark}@example.com`, contactProfileID: 'visitor' };
    return { path: '/contact/createContact', body: tokenText + JSON.stringify(contact).slice(1) };
  }
  if (request.events === 1) return { path: '/event/logEvent', body: tokenText + eventText().slice(1) };
  const events = Array.from({ length: request.events }, eventText);
  return { path: '/event/logEvents', body: `${tokenText}"event":[${events.join(',')}]}` };
};

const findOffsets = (mark: string, text: string): number[] =>
  [...text.matchAll(new RegExp(mark, 'g'))].map((m) => m.index);

const createTemplate = (load: Load, account: number): Template => {
  const { path, body } = createBody(load, toTokens(load)[account] as string);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  const text = head + body;
  return {
    account,
    bytes: Buffer.from(text, 'latin1'),
    userAt: findOffsets(userMark, text),
    idAt: findOffsets(idMark, text),
  };
};

/** Replaces the identifiers in a request. A contact gets a new user. */
const renew = ({ account, bytes, userAt, idAt }: Template, load: Load): Buffer => {
  const { firstUser = 0, request } = load;
  const accounts = toTokens(load).length;
  const usersOfEach = Math.max(1, Math.floor(users / accounts));
  for (let nth = 0; nth < idAt.length; nth += 1) {
    created += 1;
    const user =
      request === 'contact' ? `${run}${created}` : firstUser + account + accounts * ((created * 7919) % usersOfEach);
    const name = typeof user === 'number' ? userName(user) : user.padEnd(nameLength, '-');
    bytes.write(name, userAt[nth] as number, 'latin1');
    bytes.write(run + created.toString(36).padStart(12, '0'), idAt[nth] as number, 'latin1');
  }
  return bytes;
};

/** One connection's requests. All connections together use all tokens. */
const createTemplates = (load: Load, connection: number): Template[] => {
  const accounts = toTokens(load).length;
  const variety = Math.max(minVariety, Math.ceil(accounts / load.connections));
  return Array.from({ length: variety }, (_, nth) =>
    createTemplate(load, (connection + nth * load.connections) % accounts),
  );
};

/** Opens a connection that sends requests sequentially. Calls `onResponse` for each response. */
const openConnection = (load: Load, nth: number, onResponse: (isOK: boolean) => void) =>
  new Promise<{ send(): void; close(): void }>((resolve, reject) => {
    const templates = createTemplates(load, nth);
    let sent = 0;
    let received = '';
    let responseLength = 0;
    const finish = (isOK: boolean) => {
      received = '';
      onResponse(isOK);
    };
    const read = (length: number, buffer: Uint8Array): boolean => {
      const chunk = buffer as Buffer;
      const is200 = chunk[9] === 50 && chunk[10] === 48 && chunk[11] === 48;
      // All responses have the same length.
      if (received === '' && length === responseLength && is200) {
        finish(true);
        return true;
      }
      received += chunk.toString('latin1', 0, length);
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return true;
      const bodyLength = /content-length: (\d+)/i.exec(received)?.[1];
      const complete =
        bodyLength === undefined ? received.endsWith('0\r\n\r\n') : received.length >= headEnd + 4 + Number(bodyLength);
      if (!complete) return true;
      const isOK = received.startsWith('HTTP/1.1 200');
      if (isOK && bodyLength !== undefined) responseLength = received.length;
      finish(isOK);
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

/** The interval between checks for due requests. */
const tickMilliseconds = 1;

const runLoad = async (load: Load): Promise<LoadResult> => {
  const latencies = createLatencies();
  const rate = load.requestsPerSecond;
  let succeeded = 0;
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
      const connection = await openConnection(load, nth, (isOK) => {
        const now = performance.now();
        latencies.record(now - startedAt);
        if (isOK) succeeded += 1;
        else refused += 1;
        if (!running) return;
        if (rate === undefined) sendAt(now);
        // The next request is overdue because it waited for this response, so the wait is part of its latency.
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
    requestsPerSecond: succeeded / seconds,
    eventsPerSecond: (succeeded * eventsPerRequest) / seconds,
    events: succeeded * eventsPerRequest,
    p50: latencies.quantile(0.5),
    p99: latencies.quantile(0.99),
    refused,
    cores: (user + system) / 1e6 / seconds,
  };
};

process.on('message', async (load: Load) => process.send?.(await runLoad(load)));
process.on('disconnect', () => process.exit());
