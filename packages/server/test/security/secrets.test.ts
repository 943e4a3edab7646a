/**
 * Tests that tokens and e-mail addresses do not leak. Sends every operation, invalid requests and malformed bytes to a
 * server with full logging, then searches its output, its error responses and its files for secrets.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { type RunningCommand, start, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { smallestInput } from '../fixtures/requests.ts';
import { type Fields, type ParsedResponse, type Scene, toStrings } from '../fixtures/scene.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';
import { withoutLimits } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { revealingSecrets } from '../weaknesses/http.ts';
import { operationPaths } from './tools/service.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const operator = 'operator_of-the-search-for-secrets-01234';
/** A part of every e-mail address that is sent. */
const mailbox = 'ada.lovelace.the.first';
const address = `${mailbox}@example.com`;

const isFull = times({ quick: 0, full: 1 }) > 0;

interface Run {
  readonly tokens: Readonly<Record<'browser' | 'agent' | 'viewer' | 'server' | 'second', string>>;
  /** Standard output and standard error. */
  readonly written: string;
  /** The headers and bodies of all error responses. */
  readonly errors: readonly string[];
  readonly health: readonly string[];
  /** The bytes of each file, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const firsthand = (args: readonly string[], env: Record<string, string>) =>
  spawnSync(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH, ...env } });

/** Functions that send requests to the server, and record error responses in `errors`. */
const createSenders = (url: string, errors: string[]) => {
  const send: Scene['send'] = async (path, init): Promise<ParsedResponse> => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    const { status, headers } = response;
    if (status >= 400) errors.push(`${status} ${JSON.stringify([...headers])} ${text}`);
    return { status, headers, body: headers.get('content-type') === 'application/json' ? JSON.parse(text) : text };
  };
  const post: Scene['post'] = (path, fields, headers = {}) =>
    send(path, { method: 'POST', body: JSON.stringify(fields), headers });
  const get: Scene['get'] = (path, fields, headers = {}) =>
    send(`${path}?${new URLSearchParams(toStrings(fields))}`, { headers });
  return { send, post, get };
};

const multipart = 'multipart/form-data; boundary=b';

/** Sends requests that are invalid in many ways and full of secrets. */
const sendInvalidRequests = async (
  { send, post, get }: ReturnType<typeof createSenders>,
  token: string,
  secret: string,
) => {
  const invalidFields: Fields = {
    tokenUUID: token,
    userUUID: 'a-browser-of-the-search',
    // Sends invalid requests only, because accepted events are stored unchanged. The list of refused requests must not
    // contain secrets.
    eventID: 'none',
    contactEmailaddress: address,
    contactProfileID: address,
    contactTagID: address,
    contactAttr: [{ attrID: address, attrValue: address }],
    eventAttrArray: [{ attrID: 'page', attrValue: `${address} ${secret}` }],
    event: [{ eventID: 1, eventAttrArray: [{ attrID: address, attrValue: 1 }] }, { eventID: address }, address],
    contactUUID: address,
    accountUUID: secret,
    tokenID: secret,
    [address]: 1,
    [secret]: secret,
  };
  const headers = { Authorization: `Bearer ${token}` };
  const otherHeaders = {
    Referer: `https://shop.example/?${secret}&${address}`,
    Cookie: `token=${secret}; mail=${address}`,
  };
  for (const { path, operation } of operationPaths) {
    if (operation.stream) continue;
    if (operation.methods.includes('GET')) await get(path, invalidFields, otherHeaders);
    await post(path, invalidFields, otherHeaders);
    const { tokenUUID: _, ...bare } = invalidFields;
    await post(path, bare, { ...headers, Origin: `https://${mailbox}.example` });
    for (const body of [
      `{"tokenUUID":"${secret}","contactEmailaddress":"${address}"`,
      `{'token\\u0055UID':'${secret}'}`,
      `%FF&tokenUUID=${secret}&%74oken=${secret}&contactEmailaddress=${address}`,
      `--b\r\nContent-Disposition: form-data; name="tokenUUID"\r\n\r\n${secret}\r\n`,
      `--b\r\nContent-Disposition: form-data; name="${address}"; filename="${secret}"\r\n\r\n${address}\r\n--b--\r\n`,
      secret,
      '[['.repeat(20) + address,
    ]) {
      for (const type of body.startsWith('--b') ? [multipart] : ['text/plain', 'application/x-www-form-urlencoded']) {
        await send(path, { method: 'POST', body, headers: { ...headers, 'Content-Type': type } });
      }
    }
  }
  for (const path of [`/${address}`, `/${secret}`, `/event/logEvent/${secret}?${address}`, `/%ff${address}`]) {
    await send(path, { headers: otherHeaders });
  }
};

/** Sends bytes that are not a request, or only part of one. */
const sendBrokenBytes = async (url: string, secret: string) => {
  const { port } = new URL(url);
  for (const bytes of [
    `${secret} ${address}\r\n\r\n`,
    `GET /${secret}?${address} HTTP/1.1\r\nHost: ${address}\r\n\r\n`,
    `GET /${address} HTTP/1.1\r\nHost: a b\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
    `POST /logEvent HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"tokenUUID":"${secret}"`,
    `POST /logEvent HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
  ]) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write(bytes, () => setTimeout(() => socket.destroy(), 20)),
      );
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }
};

const stop = async ({ child, ended }: RunningCommand) => {
  child.kill('SIGTERM');
  await ended;
};

const filesBelow = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))] as const),
  );

/** Sends everything to our own server, or to that of another `firsthand` command. */
const runAll = async (main?: string): Promise<Run> => {
  const { path, env } = temporaryDatabase();
  const errors: string[] = [];
  const health: string[] = [];
  // createNotification needs mail. Nothing listens on port 1.
  const mail = {
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'mail@shop.example',
    CONSOLE_ORIGIN: 'https://console.shop.example',
  };
  const serving = { ...env, ...mail, OPERATOR_TOKEN: operator, LOG_LEVEL: 'trace', RATE_LIMIT: withoutLimits() };
  const server = start(process.execPath, [main ?? bin, 'serve', '--port', '0'], serving, root);
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  const [, url = ''] = await server.waitForOutput(/"address":"([^"]+)"/);
  const ways = createSenders(url, errors);
  const client = createClient({ url, token: operator });
  const shop = await client.createAccount({ accountName: 'Shop' });
  const strict = await client.createAccount({ accountName: 'Strict', strict: true });
  const { browserTokenUUID: browser, serverTokenUUID, accountUUID } = shop;
  const second = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'server' });
  const viewerResponse = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'viewer' });
  const editorResponse = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'editor' });
  const agentResponse = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'agent' });
  const agent = agentResponse.body.tokenUUID as string;
  const viewer = viewerResponse.body.tokenUUID as string;
  const editor = editorResponse.body.tokenUUID as string;
  const tokens = {
    browser,
    agent,
    viewer,
    editor,
    server: serverTokenUUID,
    operator,
    revoked: second.body.tokenUUID as string,
  };
  const scene = { ...ways, tokens, accountUUID } as Scene;

  // Calls each operation with each kind of token on each of its paths.
  for (const { name, path: route, operation } of operationPaths) {
    if (operation.stream) continue;
    for (const kind of operation.tokens) {
      const fields = { ...(await smallestInput[name](scene, kind)), tokenUUID: tokens[kind] };
      const addressedFields = 'contactEmailaddress' in fields ? { ...fields, contactEmailaddress: address } : fields;
      const way = operation.methods.includes('POST') ? ways.post : ways.get;
      expect([name, (await way(route, addressedFields)).status]).toEqual([name, 200]);
    }
  }
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  await ways.post('/mcp', ping, { Authorization: `Bearer ${agent}` });
  await ways.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'no_method' }, { Authorization: `Bearer ${viewer}` });
  await sendInvalidRequests(ways, serverTokenUUID, second.body.tokenUUID);
  await sendInvalidRequests(ways, browser, serverTokenUUID);
  await sendInvalidRequests(ways, strict.serverTokenUUID, operator);
  await sendInvalidRequests(ways, strict.browserTokenUUID, strict.serverTokenUUID);
  await sendInvalidRequests(ways, 'server_that-nobody-has-made-01', serverTokenUUID);
  await sendBrokenBytes(url, serverTokenUUID);
  for (const route of ['/healthz', '/readyz', '/metrics', '/openapi.json'])
    health.push(JSON.stringify((await ways.send(route)).body));

  // Causes an internal error in the store, which is logged.
  const db = new Database(path);
  db.exec('ALTER TABLE claim RENAME TO claim_elsewhere; ALTER TABLE account_day RENAME TO day_elsewhere');
  await ways.post('/createContact', {
    ...(await smallestInput.createContact(scene, 'server')),
    tokenUUID: browser,
    contactEmailaddress: address,
  });
  await ways.post('/logEvent', { tokenUUID: serverTokenUUID, userUUID: 'a-browser-of-the-search', eventID: 1 });
  db.exec('ALTER TABLE claim_elsewhere RENAME TO claim; ALTER TABLE day_elsewhere RENAME TO account_day');
  db.close();

  const backups = join(dirname(path), 'backups');
  mkdirSync(backups);
  const backupResult = firsthand(['backup', join(backups, 'copy.db')], env);
  // Reads the files while the server runs, so that its write-ahead log exists.
  const runningFiles = filesBelow(dirname(path));
  const accountsResult = firsthand(['account', 'list'], env);
  const doctorResult = firsthand(['doctor'], env);
  await stop(server);
  const files = new Map([
    ...runningFiles,
    ...[...filesBelow(dirname(path))].map(([name, bytes]) => [`${name}, stopped`, bytes] as const),
  ]);
  const commands = [backupResult, accountsResult, doctorResult]
    .map(({ stdout, stderr }) => `${stdout}${stderr}`)
    .join('');
  return {
    tokens: { browser, agent, viewer, server: serverTokenUUID, second: second.body.tokenUUID },
    written: server.written() + commands,
    errors,
    health,
    files,
  };
};

/** Returns a secret's encodings: unchanged, escaped for a URL, base64 and hex. */
const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret)
    .toString('base64')
    .replace(/.{0,2}=*$/, ''),
  Buffer.from(secret).toString('hex'),
];

const findSecrets = (bytes: Buffer | string, secrets: Readonly<Record<string, string>>) => {
  const text = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [name] : [],
  );
};

/** Returns the secrets. Tokens are reduced to the part after their kind. */
const secretsOf = ({ tokens: { browser, agent, viewer, server, second } }: Run): Record<string, string> => {
  const bare = (token: string) => token.slice(token.indexOf('_') + 1);
  return {
    agent: bare(agent),
    viewer: bare(viewer),
    server: bare(server),
    'second server': bare(second),
    operator: bare(operator),
    browser: bare(browser),
    address: mailbox,
  };
};

/** Describes how many secrets a run has leaked, and where. */
const describeLeaks = (run: Run) => {
  const all = secretsOf(run);
  const { browser: _, address: __, ...secretTokens } = all;
  const errors = run.errors.filter((error) => findSecrets(error, all).length > 0);
  const files = [...run.files.values()].filter((bytes) => findSecrets(bytes, secretTokens).length > 0);
  return `${findSecrets(run.written, all).length} in the output, ${errors.length} responses with one, ${files.length} files with a secret token`;
};

/** The run with our own server, once it is complete. */
let ours: Run | undefined;

describe('a server that received valid and invalid requests of every kind', () => {
  let run: Run;
  let secretTokens: Record<string, string>;
  let all: Record<string, string>;
  it('has logged, and has responded with every kind of error', async () => {
    run = await runAll();
    ours = run;
    all = secretsOf(run);
    const { browser: _, address: __, ...rest } = all;
    secretTokens = rest;
    expect(run.errors.length).toBeGreaterThan(1_000);
    for (const status of ['400', '401', '403', '404', '405', '415', '500'])
      expect([status, run.errors.some((error) => error.startsWith(status))]).toEqual([status, true]);
    expect(run.written).toMatch(/"level":"debug"/);
    expect(run.written).toMatch(/"level":"error"/);
  });

  it('writes no token and no e-mail address to its output', () => {
    expect(findSecrets(run.written, all)).toEqual([]);
  });

  it('reveals no token or e-mail address in error responses, health checks and metrics', () => {
    const wrong = run.errors.filter((error) => findSecrets(error, all).length > 0);
    expect([...new Set(wrong.map((each) => each.replace(/\[\[.*\]\]/, '').slice(0, 300)))].slice(0, 5)).toEqual([]);
    for (const text of run.health) expect(findSecrets(text, all)).toEqual([]);
  });

  it('stores the browser token and the e-mail address in its files, but no secret token', () => {
    expect([...run.files.keys()]).toEqual(expect.arrayContaining(['firsthand.db', 'firsthand.db-wal', 'copy.db']));
    for (const [name, bytes] of run.files) expect([name, findSecrets(bytes, secretTokens)]).toEqual([name, []]);
    expect(findSecrets(run.files.get('copy.db') as Buffer, all)).toEqual(['browser', 'address']);
  });
});

/** Runs only in full runs, because it takes as long as the run with our own server. */
if (isFull) {
  it('detects a server that leaks secrets', async (context) => {
    const run = await runAll(changeServer(temporaryFolder(), 'telling', revealingSecrets));
    const secrets = secretsOf(run);
    expect(findSecrets(run.written, secrets)).toEqual(expect.arrayContaining(['address', 'browser']));
    expect(run.errors.some((error) => findSecrets(error, secrets).includes('address'))).toBe(true);
    const { server, operator } = secrets;
    const fileSecrets = [...run.files.values()].flatMap((bytes) =>
      findSecrets(bytes, { server, operator } as typeof secrets),
    );
    expect(new Set(fileSecrets)).toEqual(new Set(['server', 'operator']));
    if (ours === undefined) return;
    const bytes = [...ours.files.values()].reduce((sum, { length }) => sum + length, 0);
    report(context, {
      fault: 'secrets',
      count: `searches for ${Object.keys(secrets).length} secrets in ${ours.written.length} characters of output, ${ours.errors.length} error responses, ${ours.files.size} files of ${Math.round(bytes / 1e6)} MB`,
      result: describeLeaks(ours),
      weakened: `logs raw URLs, quotes them, stores the secrets of refused requests: ${describeLeaks(run)}`,
    });
  });
}

it('finds an existing secret', () => {
  const secrets = { token: 'abcdefghijklmnop', address: mailbox };
  expect(findSecrets(`{"msg":"Bearer abcdefghijklmnop"}`, secrets)).toEqual(['token']);
  expect(findSecrets(Buffer.from('abcdefghijklmnop').toString('base64'), secrets)).toEqual(['token']);
  expect(findSecrets(Buffer.concat([Buffer.from([0, 255]), Buffer.from(address)]), secrets)).toEqual(['address']);
  expect(findSecrets('nothing', secrets)).toEqual([]);
});
