/** Two processes that answer, seen from outside: whichever a connection has come to, it is one server. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  firsthand,
  firsthandApart,
  firsthandJSON,
  type Running,
  type Server,
  shareServer,
  startServer,
  temporaryDatabase,
} from './fixtures/command.ts';
import { createAccount, operatorToken, userUUID } from './fixtures/serving.ts';

interface Answer {
  readonly status: number;
  readonly requestID: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answers
  readonly body: any;
}

/** A connection that is used for one request after the other. */
const openConnection = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (path: string, body?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(`${url}${path}`, { agent, method: body ? 'POST' : 'GET' }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () =>
          resolve({
            status: answer.statusCode as number,
            requestID: String(answer.headers['x-request-id']),
            body: JSON.parse(text),
          }),
        );
      });
      asked.on('error', reject).end(body && JSON.stringify(body));
    });
};
type Connection = ReturnType<typeof openConnection>;

/** The worker that answered, as its log says. */
const workerOf = async (server: Running, { requestID }: Answer): Promise<number> => {
  const [line] = await server.says(new RegExp(`\\{[^\\n]*"requestID":"${requestID}"[^\\n]*`));
  return JSON.parse(line).worker;
};

let server: Server;
let env: Record<string, string>;
let tokens: { browserTokenUUID: string; serverTokenUUID: string; accountUUID: string };
/** Each to another worker. */
let one: Connection;
let other: Connection;

const openConnections = async () => {
  one = openConnection(server.url);
  const worker = await workerOf(server, await one('/readyz'));
  // A worker that has just closed others' connections may get the next one as well.
  await expect
    .poll(async () => {
      other = openConnection(server.url);
      return workerOf(server, await other('/readyz'));
    })
    .toBe(3 - worker);
};

const twoWorkers = { WORKERS: '2', OPERATOR_TOKEN: operatorToken };

const serve = async (more: Readonly<Record<string, string>> = {}) => {
  ({ env } = temporaryDatabase());
  server = await startServer({ ...env, ...twoWorkers, ...more }, '--log-level', 'debug');
  tokens = await createAccount(server.url);
  await openConnections();
};

const event = (eventUUID: string, tokenUUID = tokens.serverTokenUUID) => ({
  tokenUUID,
  userUUID,
  eventID: 1,
  eventUUID,
});

describe('two workers', () => {
  const shared = shareServer(twoWorkers, '--log-level', 'debug');
  beforeEach(async () => {
    ({ server, env } = shared);
    tokens = await createAccount(server.url);
    await openConnections();
  });

  it('read what the other has kept, as soon as that is answered', async () => {
    const logged: string[] = [];
    for (let count = 0; count < 50; count += 1) {
      const [writing, reading] = count % 2 ? [one, other] : [other, one];
      logged.push(`event-of-a-test-${count}`);
      expect(await writing('/logEvent', event(logged.at(-1) as string))).toMatchObject({ status: 200 });
      const { body } = await reading(`/event/getEvent?tokenUUID=${tokens.serverTokenUUID}&order=asc`);
      expect(body.event.map(({ eventUUID }: { eventUUID: string }) => eventUUID)).toEqual(logged);
    }
  });

  it('keep an event once that comes to both at the same time', async () => {
    for (let count = 0; count < 30; count += 1) {
      const answers = await Promise.all(
        [one, other, one, other].map((ask) => ask('/logEvent', event(`event-of-a-test-${count}`))),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    }
  });

  it('refuse a token from the moment on that the other has answered that it is revoked', async () => {
    const admin = createClient({ url: server.url, token: tokens.serverTokenUUID });
    for (let count = 0; count < 20; count += 1) {
      const [revoking, using] = count % 2 ? [one, other] : [other, one];
      const { tokenID, tokenUUID } = await admin.createToken({ tokenKind: 'browser', tokenName: '' });
      expect(await using('/logEvent', event(`before-${count}-of-a-test`, tokenUUID))).toMatchObject({ status: 200 });
      // In the middle of the requests of others.
      const busy = Promise.all([1, 2, 3].map((nth) => using('/logEvent', event(`busy-${count}-${nth}-of-a-test`))));
      await revoking('/account/revokeToken', { tokenUUID: tokens.serverTokenUUID, tokenID });
      const after = await using('/logEvent', event(`after-${count}-of-a-test`, tokenUUID));
      expect(after.body.error).toMatchObject({ code: 'invalid_token' });
      await busy;
    }
  });

  it('notice a token that a command revokes beside them', async () => {
    const { token } = (await one(`/account/getAccount?tokenUUID=${tokens.serverTokenUUID}`)).body.account;
    const { tokenID } = token.find(({ tokenKind }: { tokenKind: string }) => tokenKind === 'browser');
    const using = event('event-of-a-test', tokens.browserTokenUUID);
    for (const ask of [one, other]) expect(await ask('/logEvent', using)).toMatchObject({ status: 200 });
    expect(await firsthand(['token', 'revoke', tokenID, '--account', tokens.accountUUID], env)).toMatchObject({
      code: 0,
    });
    for (const ask of [one, other]) expect(await ask('/logEvent', using)).toMatchObject({ status: 401 });
  });

  it('keep the order of a connection', async () => {
    const { hostname, port } = new URL(server.url);
    const count = 200;
    const texts = Array.from({ length: count }, (_, nth) => {
      const body = JSON.stringify(event(`event-of-a-test-${nth}`, tokens.browserTokenUUID));
      return `POST /logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    });
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1').on('data', (text) => {
      received += text;
    });
    // As many as may wait on a connection (connection-shares.ts).
    const atOnce = 4;
    for (let sent = 0; sent < count; sent += atOnce) {
      socket.write(texts.slice(sent, sent + atOnce).join(''));
      const answers = () => received.match(/HTTP\/1\.1 200/g)?.length;
      await expect.poll(answers, { timeout: 20_000, interval: 5 }).toBe(sent + atOnce);
    }
    socket.destroy();
    const { body } = await other(`/event/getEvent?tokenUUID=${tokens.serverTokenUUID}&order=asc&limit=1000`);
    expect(body.event.map(({ eventUUID }: { eventUUID: string }) => eventUUID)).toEqual(
      Array.from({ length: count }, (_, nth) => `event-of-a-test-${nth}`),
    );
  });

  it('tell a stream of what the other has kept', async () => {
    const response = await fetch(`${server.url}/event/streamEvents`, {
      headers: { Authorization: `Bearer ${tokens.serverTokenUUID}` },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let told = '';
    const hear = async (pattern: RegExp) => {
      while (!pattern.test(told)) told += (await reader.read()).value;
    };
    for (let count = 0; count < 10; count += 1) {
      const ask = count % 2 ? one : other;
      await ask('/logEvent', event(`event-of-a-test-${count}`));
      await hear(new RegExp(`"event-of-a-test-${count}"`));
    }
    await reader.cancel();
  });

  it('erase, and are backed up, as one does', async () => {
    const auth = { tokenUUID: tokens.serverTokenUUID };
    const contact = { ...auth, userUUID, contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
    const { contactUUID } = (await one('/createContact', contact)).body;
    const copy = join(env.DATABASE_URL?.replace('sqlite:', '') as string, '../copy.db');
    expect(await firsthand(['backup', copy], env)).toMatchObject({ code: 0 });
    expect(await other('/contact/eraseContact', { ...auth, contactUUID })).toMatchObject({ status: 200 });
    expect(await one(`/contact/getContact?tokenUUID=${auth.tokenUUID}&contactUUID=${contactUUID}`)).toMatchObject({
      status: 410,
    });
    await expect
      .poll(async () => (await one('/contact/eraseContact', { ...auth, contactUUID })).body.complete, {
        timeout: 20_000,
      })
      .toBe(true);
  });
});

describe('two workers, one of whose processes ends,', () => {
  beforeEach(() => serve());

  it('are replaced when they are killed, and the log says which', async () => {
    const answer = await one('/healthz');
    const worker = await workerOf(server, answer);
    const [, pid] = await server.says(new RegExp(`"worker":${worker},"pid":(\\d+),"msg":"a worker answers"`));
    process.kill(Number(pid), 'SIGKILL');
    await server.says(new RegExp(`"worker":${worker},"pid":${pid},"how":"it was killed by SIGKILL"`));
    expect(await other('/readyz')).toMatchObject({ status: 200 });
    await server.says(new RegExp(`"worker":${worker},"pid":(?!${pid})\\d+,"msg":"a worker answers"`));
    expect(await other('/readyz')).toMatchObject({ status: 200 });
  });

  it('that does not answer is ended, and replaced', { timeout: 40_000 }, async () => {
    const [, pid] = await server.says(/"worker":1,"pid":(\d+),"msg":"a worker answers"/);
    process.kill(Number(pid), 'SIGSTOP');
    await server.says(new RegExp(`"pid":${pid},"msg":"a worker does not answer, and is ended"`));
    await server.says(new RegExp(`"worker":1,"pid":(?!${pid})\\d+,"msg":"a worker answers"`));
  });

  it('end with the process that writes', async () => {
    const pids = [...server.written().matchAll(/"pid":(\d+),"msg":"a worker answers"/g)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(2);
    server.child.kill('SIGKILL');
    // Its standard error is theirs as well, and closed when they have ended.
    await server.ended;
    const isLeft = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(() => pids.filter(isLeft), { timeout: 20_000 }).toEqual([]);
  });
});

describe('what is counted', () => {
  it('is counted of both together: events of a user', async () => {
    await serve({ RATE_LIMIT: 'user=0.001/10' });
    const answers: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const both = [one, other].map((ask, nth) =>
        ask('/logEvent', event(`event-of-a-test-${count}-${nth}`, tokens.browserTokenUUID)),
      );
      answers.push(...(await Promise.all(both)).map(({ status }) => status));
    }
    expect(answers.sort()).toEqual([...Array(10).fill(200), ...Array(6).fill(429)]);
  });

  it('is counted of both together: guesses at tokens', async () => {
    await serve();
    const answers: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const both = [one, other].map((ask) =>
        ask('/logEvent', event('event-of-a-test', `server_${crypto.randomUUID()}`)),
      );
      answers.push(...(await Promise.all(both)).map(({ status }) => status));
    }
    expect(answers.sort()).toEqual([...Array(10).fill(401), ...Array(6).fill(429)]);
    // A good token is no guess.
    expect(await one('/logEvent', event('event-of-a-test'))).toMatchObject({ status: 200 });
  });

  it("is known to both: how wrong a browser's clock is", async () => {
    await serve();
    const timed = (nth: number, onTheWay: number) => {
      const sentTime = Date.now() - 3_600_000 - onTheWay;
      return { ...event(`event-of-a-test-${nth}`, tokens.browserTokenUUID), sentTime, eventTime: sentTime };
    };
    await one('/logEvent', timed(0, 0));
    // It was three seconds on its way: that is not what its clock is wrong by.
    await other('/logEvent', timed(1, 3_000));
    const { body } = await one(`/event/getEvent?tokenUUID=${tokens.serverTokenUUID}&order=asc`);
    const [first, second] = body.event.map(({ eventTime }: { eventTime: string }) => Date.parse(eventTime));
    expect(second - first).toBeLessThan(-2_000);
  });
});

it('every worker keeps to the quota of an account, and one of them says so', async () => {
  ({ env } = temporaryDatabase());
  tokens = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const before = await startServer(env);
  expect(await openConnection(before.url)('/logEvent', event('event-of-a-test'))).toMatchObject({ status: 200 });
  before.child.kill();
  await before.ended;
  server = await startServer({ ...env, WORKERS: '2', ACCOUNT_BYTES: '200' });
  for (const ask of [openConnection(server.url), openConnection(server.url)]) {
    const full = async () => (await ask('/logEvent', event('event-of-a-test'))).body.error?.code;
    await expect.poll(full, { timeout: 10_000 }).toBe('quota');
  }
  expect(server.written().match(/is over ACCOUNT_BYTES/g)).toHaveLength(1);
});

it('WORKERS has a demo page, too', async () => {
  const { env } = temporaryDatabase();
  const { url, written } = await startServer({ ...env, WORKERS: '2' }, '--demo');
  for (const path of ['/readyz', '/demo/', '/tracker.js', '/healthz']) {
    for (let count = 0; count < 4; count += 1) expect((await fetch(`${url}${path}`)).status).toBe(200);
  }
  expect(written()).toMatch(/Server token {4}server_/);
});

it.each([
  ['sqlite::memory:', /^firsthand: WORKERS \(or --workers\) must be 1 with sqlite::memory:, [^\n]+\n$/m],
  ['postgres://localhost/firsthand', /^firsthand: WORKERS \(or --workers\) must be 1 with PostgreSQL: [^\n]+\n$/m],
])('WORKERS is refused where nothing is shared, or all is anyway: %s', async (databaseURL, complaint) => {
  const { code, stderr } = await firsthand(['serve', '--port', '0'], { DATABASE_URL: databaseURL, WORKERS: '2' });
  expect(code).toBe(1);
  expect(stderr).toMatch(complaint);
});

it('WORKERS says who has the port, and ends', async () => {
  const { env } = temporaryDatabase();
  const { url } = await startServer(env);
  const { code, stderr } = await firsthand(['serve', '--port', new URL(url).port, '--log-level', 'error'], {
    ...temporaryDatabase().env,
    WORKERS: '2',
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^firsthand: cannot listen on 127\.0\.0\.1, port \d+: another program listens there already/);
});

it('a worker is not started by hand', async () => {
  const { code, stderr } = await firsthandApart(['worker']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'firsthand: a worker is started by firsthand serve: give that --workers\n',
  });
  expect((await firsthand(['--help'])).stdout).not.toContain('worker');
});
