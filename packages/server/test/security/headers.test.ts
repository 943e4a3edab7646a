/** Tests, on every path and for every error, the headers that prevent sniffing, caching and leaking referrers. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { linkPath } from '../../src/http/notifications/links.ts';
import { type Serving, serve } from '../../src/serving/serve.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { invalidHeaderCases } from '../weaknesses/http.ts';
import { type ProvokedResponse, provokeResponses } from './tools/provoke-responses.ts';
import { localConnection, openService, operationPaths, readText, type Service } from './tools/service.ts';

/** Lists a response's wrong headers. With `isCacheable`, caching is allowed, as for the tracker's files. */
const findWrongHeaders = (headers: Headers, { isCacheable = false } = {}): string[] => {
  const value = (name: string) => headers.get(name) ?? '';
  const rules: [name: string, isCorrect: boolean][] = [
    ['X-Content-Type-Options', value('X-Content-Type-Options') === 'nosniff'],
    ['Referrer-Policy', value('Referrer-Policy') === 'no-referrer'],
    [
      'Cache-Control',
      isCacheable ? /^public, max-age=\d+/.test(value('Cache-Control')) : value('Cache-Control') === 'no-store',
    ],
    ['Server', !headers.has('Server') && !headers.has('X-Powered-By')],
  ];
  return rules.flatMap(([name, isCorrect]) => (isCorrect ? [] : [`${name}: ${value(name)}`]));
};

const isTrackerFile = (path: string) => /^\/(?:(?:main|tracker)[\w.]*\.js|integrity\.json|licenses\.txt)$/.test(path);

describe('every response from an operation', () => {
  let responses: ProvokedResponse[];
  beforeAll(async () => {
    responses = await provokeResponses();
  });

  it('forbids sniffing, caching and referrers, whatever its status is', () => {
    const wrong = responses.flatMap(({ path, method, status, response }) =>
      findWrongHeaders(response.headers).map((mistake) => `${method} ${path} ${status}: ${mistake}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has a unique X-Request-Id', () => {
    const ids = responses.map(({ response }) => response.headers.get('x-request-id') ?? '');
    for (const id of ids) expect(id).toMatch(/^[\w-]{21}$/);
    expect(new Set(ids).size).toBe(responses.length);
  });

  it('declares its type (JSON or a stream) unless it has no body', () => {
    const types = new Set(responses.map(({ response }) => response.headers.get('content-type')));
    expect(types).toEqual(new Set(['application/json', 'text/event-stream', null]));
  });

  it('fails this check if the server changes a header or reveals its software', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'firsthand-headers-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const requiredHeaders = ['Cache-Control', 'X-Content-Type-Options', 'Referrer-Policy'];
    const mistakes = [...requiredHeaders, 'Server'];
    const main = changeServer(folder, 'weakened', invalidHeaderCases);
    const served = await startServerProcess(join(folder, 'weakened.db'), await freePort(), { main });
    const wrongHeaders: string[][] = [];
    for (const path of ['/logEvent', '/nowhere', '/healthz']) {
      for (const _ of mistakes) {
        const { headers } = await fetch(served.url + path);
        wrongHeaders.push(findWrongHeaders(headers).map((mistake) => mistake.split(':')[0] as string));
      }
    }
    await stopServerProcess(served);
    expect(wrongHeaders.map((wrong) => wrong.length)).toEqual(Array(3 * mistakes.length).fill(1));
    expect(new Set(wrongHeaders.flat())).toEqual(new Set(mistakes));
    report(context, {
      fault: 'response headers',
      count: `${responses.length} responses with ${new Set(responses.map(({ status }) => status)).size} statuses, on ${operationPaths.length} paths`,
      result: `${responses.filter(({ response }) => findWrongHeaders(response.headers).length > 0).length} without ${requiredHeaders.join(', ')}, or with the server’s name`,
      weakened: `wrong value for one of the ${requiredHeaders.length}, or the server’s name: detected in each of ${wrongHeaders.length} responses`,
    });
  });
});

describe('every other response', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  const others = () => {
    const ownPaths = new Set<string>(operationPaths.map(({ path }) => path));
    return [...service.paths.filter((path) => !ownPaths.has(path)), '/nowhere', '/%', '/../etc/passwd'];
  };

  it('forbids sniffing, caching and referrers, whatever its method is', async () => {
    const wrong: string[] = [];
    for (const path of others()) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS']) {
        for (const env of [localConnection, {}]) {
          for (const cookie of ['', 'userUUID=a-visitor-of-the-demo']) {
            const response = await service.app.request(path, { method, headers: { cookie } }, env);
            await readText(response, 5);
            const isCacheable = isTrackerFile(path) && response.status === 200;
            wrong.push(
              ...findWrongHeaders(response.headers, { isCacheable }).map(
                (each) => `${method} ${path} ${response.status}: ${each}`,
              ),
            );
          }
        }
      }
    }
    expect([...new Set(wrong)]).toEqual([]);
  });

  it('lets a page run only scripts with its nonce, or none, and forbids framing', async () => {
    const pages: string[] = [];
    for (const path of others()) {
      const response = await service.app.request(path, {}, localConnection);
      const text = await readText(response, 5);
      if (!response.headers.get('content-type')?.includes('html')) continue;
      pages.push(path);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; /);
      expect(policy).not.toMatch(/unsafe-|\*|https?:|strict-dynamic/);
      for (const directive of ['base-uri', 'form-action', 'frame-ancestors'])
        expect(policy).toContain(`${directive} 'none'`);
      // The pages of links in mails run no scripts.
      if (path.startsWith('/console/')) {
        expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none';/);
        expect(text).not.toMatch(/<script|<link|\bon\w+=/);
        continue;
      }
      const [, nonce = ''] = /script-src 'nonce-([\w-]{22})';/.exec(policy) ?? [];
      expect(nonce).not.toBe('');
      const tags = text.match(/<(?:script|style)\b[^>]*>/g) ?? [];
      expect(tags.length).toBeGreaterThan(1);
      for (const tag of tags) expect(tag).toContain(`nonce="${nonce}"`);
      const again = await service.app.request(path, {}, localConnection);
      expect(again.headers.get('content-security-policy')).not.toContain(nonce);
    }
    expect(pages.sort()).toEqual([linkPath('confirm'), linkPath('unsubscribe'), '/demo/']);
  });
});

describe('a server’s raw socket', () => {
  let serving: Serving;
  beforeAll(async () => {
    const config = readConfig({ PORT: '0', DATABASE_URL: 'sqlite::memory:' });
    serving = await serve(config, { log: pino({ level: 'silent' }) });
  });
  afterAll(() => serving.close());

  /** Sends bytes to a server, and returns its response. */
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
    ['an invalid Host', 'GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['a Host with a path', 'GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['an invalid target', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a backslash in the path', 'GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['bytes that are not HTTP', 'ada@example.com\r\n\r\n'],
    ['headers that are too large', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
  ])('refuses %s without quoting what was sent', async (_, bytes) => {
    const text = await sendBytes(serving.url, bytes);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(text).not.toContain('ada@');
    const fields = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(': ', 2) as [string, string]);
    if (body !== '') expect(findWrongHeaders(new Headers(fields))).toEqual([]);
  });
});
