/** The headers that keep an answer from being guessed at, remembered or passed on: on every path and every error. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { type Serving, serve } from '../../src/serving/serve.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { startServed, stopServed } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { wrongHeadersInTurn } from '../weaknesses/http.ts';
import { type Provoked, provokeAll } from './tools/provoked.ts';
import { fromHere, openService, operationPaths, readText, type Service } from './tools/service.ts';

/** What is wrong with the headers of an answer; files of the tracker are meant to be remembered. */
const mistakesIn = (headers: Headers, { lasting = false } = {}): string[] => {
  const value = (name: string) => headers.get(name) ?? '';
  const rules: [name: string, isKept: boolean][] = [
    ['X-Content-Type-Options', value('X-Content-Type-Options') === 'nosniff'],
    ['Referrer-Policy', value('Referrer-Policy') === 'no-referrer'],
    [
      'Cache-Control',
      lasting ? /^public, max-age=\d+/.test(value('Cache-Control')) : value('Cache-Control') === 'no-store',
    ],
    ['Server', !headers.has('Server') && !headers.has('X-Powered-By')],
  ];
  return rules.flatMap(([name, isKept]) => (isKept ? [] : [`${name}: ${value(name)}`]));
};

const isTrackerFile = (path: string) => /^\/(?:(?:main|tracker)[\w.]*\.js|integrity\.json|licenses\.txt)$/.test(path);

describe('every answer of an operation', () => {
  let answers: Provoked[];
  beforeAll(async () => {
    answers = await provokeAll();
  });

  it('is not to be guessed at, kept or told of, whatever its status', () => {
    const found = answers.flatMap(({ path, method, status, response }) =>
      mistakesIn(response.headers).map((mistake) => `${method} ${path} ${status}: ${mistake}`),
    );
    expect(found).toEqual([]);
  });

  it('has an X-Request-Id of its own', () => {
    const ids = answers.map(({ response }) => response.headers.get('x-request-id') ?? '');
    for (const id of ids) expect(id).toMatch(/^[\w-]{21}$/);
    expect(new Set(ids).size).toBe(answers.length);
  });

  it('says what it is: JSON, an image, a stream or nothing', () => {
    const types = new Set(answers.map(({ response }) => response.headers.get('content-type')));
    expect(types).toEqual(new Set(['application/json', 'text/event-stream', null]));
  });

  it('is seen to be wrong from a server that leaves a header out, or names itself', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'firsthand-headers-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const named = ['Cache-Control', 'X-Content-Type-Options', 'Referrer-Policy'];
    const mistakes = [...named, 'Server'];
    const main = changeServer(folder, 'weakened', wrongHeadersInTurn);
    const served = await startServed(join(folder, 'weakened.db'), await freePort(), { main });
    const seen: string[][] = [];
    for (const path of ['/logEvent', '/nowhere', '/healthz']) {
      for (const _ of mistakes) {
        const { headers } = await fetch(served.url + path);
        seen.push(mistakesIn(headers).map((mistake) => mistake.split(':')[0] as string));
      }
    }
    await stopServed(served);
    expect(seen.map((found) => found.length)).toEqual(Array(3 * mistakes.length).fill(1));
    expect(new Set(seen.flat())).toEqual(new Set(mistakes));
    report(context, {
      fault: 'headers',
      count: `${answers.length} answers with ${new Set(answers.map(({ status }) => status)).size} statuses, on ${operationPaths.length} paths`,
      result: `${answers.filter(({ response }) => mistakesIn(response.headers).length > 0).length} without ${named.join(', ')}, or with a name of the server`,
      weakened: `with another value for one of the ${named.length}, or with a name: seen in each of ${seen.length} answers`,
    });
  });
});

describe('what is served besides', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  const others = () => {
    const known = new Set<string>(operationPaths.map(({ path }) => path));
    return [...service.paths.filter((path) => !known.has(path)), '/nowhere', '/%', '/../etc/passwd'];
  };

  it('is not to be guessed at, kept or told of, by whatever method', async () => {
    const found: string[] = [];
    for (const path of others()) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS']) {
        for (const env of [fromHere, {}]) {
          for (const cookie of ['', 'userUUID=a-visitor-of-the-demo']) {
            const response = await service.app.request(path, { method, headers: { cookie } }, env);
            await readText(response, 5);
            const lasting = isTrackerFile(path) && response.status === 200;
            found.push(
              ...mistakesIn(response.headers, { lasting }).map(
                (each) => `${method} ${path} ${response.status}: ${each}`,
              ),
            );
          }
        }
      }
    }
    expect([...new Set(found)]).toEqual([]);
  });

  it('allows a page only what carries its nonce, and no other page around it', async () => {
    const pages: string[] = [];
    for (const path of others()) {
      const response = await service.app.request(path, {}, fromHere);
      const text = await readText(response, 5);
      if (!response.headers.get('content-type')?.includes('html')) continue;
      pages.push(path);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; /);
      expect(policy).not.toMatch(/unsafe-|\*|https?:|strict-dynamic/);
      for (const directive of ['base-uri', 'form-action', 'frame-ancestors'])
        expect(policy).toContain(`${directive} 'none'`);
      const [, nonce = ''] = /script-src 'nonce-([\w-]{22})';/.exec(policy) ?? [];
      expect(nonce).not.toBe('');
      const tags = text.match(/<(?:script|style)\b[^>]*>/g) ?? [];
      expect(tags.length).toBeGreaterThan(1);
      for (const tag of tags) expect(tag).toContain(`nonce="${nonce}"`);
      const again = await service.app.request(path, {}, fromHere);
      expect(again.headers.get('content-security-policy')).not.toContain(nonce);
    }
    expect(pages).toEqual(['/demo/']);
  });
});

describe('on a socket', () => {
  let serving: Serving;
  beforeAll(async () => {
    const config = readConfig({ PORT: '0', DATABASE_URL: 'sqlite::memory:' });
    serving = await serve(config, { log: pino({ level: 'silent' }) });
  });
  afterAll(() => serving.close());

  /** What a server answers to bytes. */
  const sendBytes = async (url: string, bytes: string): Promise<string> => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.write(bytes);
    socket.end();
    await once(socket, 'close');
    return text;
  };

  it.each([
    ['a Host that is none', 'GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['a Host with a path', 'GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['a target that is none', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a backslash in the path', 'GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['bytes that are no HTTP', 'ada@example.com\r\n\r\n'],
    ['headers that are too many', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
  ])('%s is refused with no word of what was sent', async (_, bytes) => {
    const text = await sendBytes(serving.url, bytes);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(text).not.toContain('ada@');
    const fields = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(': ', 2) as [string, string]);
    if (body !== '') expect(mistakesIn(new Headers(fields))).toEqual([]);
  });
});
