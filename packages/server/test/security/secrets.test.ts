/**
 * Tokens and e-mail addresses stay where they belong: a server at its chattiest is asked everything, rightly and
 * wrongly, and hurt; then all that it wrote is searched, byte by byte: its output, its answers to errors, its files.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { type Running, start, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { smallestInput } from '../fixtures/requests.ts';
import { type Answer, asText, type Fields, type Scene } from '../fixtures/scene.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';
import { withoutLimits } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { revealingSecrets } from '../weaknesses/http.ts';
import { operationPaths } from './tools/service.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const operator = 'operator_of-the-search-for-secrets-01234';
/** Stands in every address that is sent. */
const mailbox = 'ada.lovelace.the.first';
const address = `${mailbox}@example.com`;

const isFull = times({ quick: 0, full: 1 }) > 0;

interface Run {
  readonly tokens: Readonly<Record<'browser' | 'viewer' | 'server' | 'second', string>>;
  /** Standard output and standard error. */
  readonly written: string;
  /** The bodies and headers of all answers that are errors. */
  readonly errors: readonly string[];
  readonly health: readonly string[];
  /** The bytes of each file, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const firsthand = (args: readonly string[], env: Record<string, string>) =>
  spawnSync(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH, ...env } });

/** Ways to send a server requests over connections; each answer that is an error is kept. */
const waysOver = (url: string, errors: string[]) => {
  const send: Scene['send'] = async (path, init): Promise<Answer> => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    const { status, headers } = response;
    if (status >= 400) errors.push(`${status} ${JSON.stringify([...headers])} ${text}`);
    return { status, headers, body: headers.get('content-type') === 'application/json' ? JSON.parse(text) : text };
  };
  const post: Scene['post'] = (path, fields, headers = {}) =>
    send(path, { method: 'POST', body: JSON.stringify(fields), headers });
  const get: Scene['get'] = (path, fields, headers = {}) =>
    send(`${path}?${new URLSearchParams(asText(fields))}`, { headers });
  return { send, post, get };
};

const multipart = 'multipart/form-data; boundary=b';

/** Requests that are wrong in as many ways as there are, and full of secrets. */
const misuse = async ({ send, post, get }: ReturnType<typeof waysOver>, token: string, secret: string) => {
  const full: Fields = {
    tokenUUID: token,
    userUUID: 'a-browser-of-the-search',
    // So that it is refused, and kept to be sent again, without what is secret: an event that is taken keeps all of it.
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
  const elsewhere = {
    Referer: `https://shop.example/?${secret}&${address}`,
    Cookie: `token=${secret}; mail=${address}`,
  };
  for (const { path, operation } of operationPaths) {
    if (operation.stream) continue;
    if (operation.methods.includes('GET')) await get(path, full, elsewhere);
    await post(path, full, elsewhere);
    const { tokenUUID: _, ...bare } = full;
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
    await send(path, { headers: elsewhere });
  }
};

/** Bytes that are no request, or half of one. */
const hurt = async (url: string, secret: string) => {
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

const stop = async ({ child, ended }: Running) => {
  child.kill('SIGTERM');
  await ended;
};

const filesBelow = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))] as const),
  );

/** The run, on our own server or with another `firsthand` command. */
const runAll = async (main?: string): Promise<Run> => {
  const { path, env } = temporaryDatabase();
  const errors: string[] = [];
  const health: string[] = [];
  const serving = { ...env, OPERATOR_TOKEN: operator, LOG_LEVEL: 'trace', RATE_LIMIT: withoutLimits() };
  const server = start(process.execPath, [main ?? bin, 'serve', '--port', '0'], serving, root);
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  const [, url = ''] = await server.says(/"address":"([^"]+)"/);
  const ways = waysOver(url, errors);
  const client = createClient({ url, token: operator });
  const made = await client.createAccount({ accountName: 'Shop' });
  const strict = await client.createAccount({ accountName: 'Strict', strict: true });
  const { browserTokenUUID: browser, serverTokenUUID, accountUUID } = made;
  const second = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'server' });
  const viewing = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'viewer' });
  const editing = await ways.post('/account/createToken', { tokenUUID: serverTokenUUID, tokenKind: 'editor' });
  const viewer = viewing.body.tokenUUID as string;
  const editor = editing.body.tokenUUID as string;
  const tokens = {
    browser,
    viewer,
    editor,
    server: serverTokenUUID,
    operator,
    revoked: second.body.tokenUUID as string,
  };
  const scene = { ...ways, tokens, accountUUID } as Scene;

  // Each operation, with each kind of token and under each of its paths.
  for (const { name, path: route, operation } of operationPaths) {
    if (operation.stream) continue;
    for (const kind of operation.tokens) {
      const fields = { ...(await smallestInput[name](scene, kind)), tokenUUID: tokens[kind] };
      const named = 'contactEmailaddress' in fields ? { ...fields, contactEmailaddress: address } : fields;
      const way = operation.methods.includes('POST') ? ways.post : ways.get;
      expect([name, (await way(route, named)).status]).toEqual([name, 200]);
    }
  }
  await misuse(ways, serverTokenUUID, second.body.tokenUUID);
  await misuse(ways, browser, serverTokenUUID);
  await misuse(ways, strict.serverTokenUUID, operator);
  await misuse(ways, strict.browserTokenUUID, strict.serverTokenUUID);
  await misuse(ways, 'server_that-nobody-has-made-01', serverTokenUUID);
  await hurt(url, serverTokenUUID);
  for (const route of ['/healthz', '/readyz', '/metrics', '/openapi.json'])
    health.push(JSON.stringify((await ways.send(route)).body));

  // A fault of the store, which the log tells of.
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
  const said = firsthand(['backup', join(backups, 'copy.db')], env);
  // While it runs, so that its write-ahead log is there.
  const running = filesBelow(dirname(path));
  const listed = firsthand(['account', 'list'], env);
  const examined = firsthand(['doctor'], env);
  await stop(server);
  const files = new Map([
    ...running,
    ...[...filesBelow(dirname(path))].map(([name, bytes]) => [`${name}, stopped`, bytes] as const),
  ]);
  const commands = [said, listed, examined].map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
  return {
    tokens: { browser, viewer, server: serverTokenUUID, second: second.body.tokenUUID },
    written: server.written() + commands,
    errors,
    health,
    files,
  };
};

/** As they may stand in text: as they are, escaped for a URL, in base64. */
const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret)
    .toString('base64')
    .replace(/.{0,2}=*$/, ''),
  Buffer.from(secret).toString('hex'),
];

const foundIn = (bytes: Buffer | string, secrets: Readonly<Record<string, string>>) => {
  const text = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [name] : [],
  );
};

/** Tokens without what says their kind, which is no secret. */
const secretsOf = ({ tokens: { browser, viewer, server, second } }: Run): Record<string, string> => {
  const bare = (token: string) => token.slice(token.indexOf('_') + 1);
  return {
    viewer: bare(viewer),
    server: bare(server),
    'second server': bare(second),
    operator: bare(operator),
    browser: bare(browser),
    address: mailbox,
  };
};

/** Where a run has told what it must not, in numbers. */
const toldBy = (run: Run) => {
  const all = secretsOf(run);
  const { browser: _, address: __, ...secretTokens } = all;
  const errors = run.errors.filter((error) => foundIn(error, all).length > 0);
  const files = [...run.files.values()].filter((bytes) => foundIn(bytes, secretTokens).length > 0);
  return `${foundIn(run.written, all).length} in the output, ${errors.length} answers with one, ${files.length} files with a secret token`;
};

/** Ours, once it has been made. */
let ours: Run | undefined;

describe('after a run that does everything, rightly and wrongly', () => {
  let run: Run;
  let secretTokens: Record<string, string>;
  let all: Record<string, string>;
  it('has been asked, and has failed', async () => {
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

  it('its output holds no token and no address', () => {
    expect(foundIn(run.written, all)).toEqual([]);
  });

  it('no answer to an error holds one, nor what is told to whoever runs it', () => {
    const wrong = run.errors.filter((error) => foundIn(error, all).length > 0);
    expect([...new Set(wrong.map((each) => each.replace(/\[\[.*\]\]/, '').slice(0, 300)))].slice(0, 5)).toEqual([]);
    for (const text of run.health) expect(foundIn(text, all)).toEqual([]);
  });

  it('its files hold no secret token, and the browser’s where they should', () => {
    expect([...run.files.keys()]).toEqual(expect.arrayContaining(['firsthand.db', 'firsthand.db-wal', 'copy.db']));
    for (const [name, bytes] of run.files) expect([name, foundIn(bytes, secretTokens)]).toEqual([name, []]);
    expect(foundIn(run.files.get('copy.db') as Buffer, all)).toEqual(['browser', 'address']);
  });
});

/** The same takes as long again, for a server that is known to fail. */
if (isFull) {
  it('a server that tells is found out', async (context) => {
    const run = await runAll(changeServer(temporaryFolder(), 'telling', revealingSecrets));
    const secrets = secretsOf(run);
    expect(foundIn(run.written, secrets)).toEqual(expect.arrayContaining(['address', 'browser']));
    expect(run.errors.some((error) => foundIn(error, secrets).includes('address'))).toBe(true);
    const { server, operator } = secrets;
    const held = [...run.files.values()].flatMap((bytes) => foundIn(bytes, { server, operator } as typeof secrets));
    expect(new Set(held)).toEqual(new Set(['server', 'operator']));
    if (ours === undefined) return;
    const bytes = [...ours.files.values()].reduce((sum, { length }) => sum + length, 0);
    report(context, {
      fault: 'secrets',
      count: `${Object.keys(secrets).length} secrets sought in ${ours.written.length} characters of output, ${ours.errors.length} answers to errors, ${ours.files.size} files of ${Math.round(bytes / 1e6)} MB`,
      result: toldBy(ours),
      weakened: `logs URLs as they came, quotes them, keeps what is refused: ${toldBy(run)}`,
    });
  });
}

it('a secret that is there is found', () => {
  const secrets = { token: 'abcdefghijklmnop', address: mailbox };
  expect(foundIn(`{"msg":"Bearer abcdefghijklmnop"}`, secrets)).toEqual(['token']);
  expect(foundIn(Buffer.from('abcdefghijklmnop').toString('base64'), secrets)).toEqual(['token']);
  expect(foundIn(Buffer.concat([Buffer.from([0, 255]), Buffer.from(address)]), secrets)).toEqual(['address']);
  expect(foundIn('nothing', secrets)).toEqual([]);
});
