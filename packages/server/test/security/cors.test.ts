/** Which answers pages of other origins may read, and that what they may send changes nothing by itself. */
import { operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { writeNames } from '../../src/store/sqlite/calls.ts';
import type { Store } from '../../src/store/store.ts';
import { smallestInput } from '../fixtures/requests.ts';
import { asText } from '../fixtures/scene.ts';
import { report } from '../tools/report.ts';
import { type Provoked, provokeAll } from './tools/provoked.ts';
import { fromHere, openService, operationPaths, type Service } from './tools/service.ts';

/** As the design and decision 23 have it, said once more and not taken from the table that is under test. */
const openOperations = ['logEvent', 'logEvents', 'createContact', 'getContact', 'createHandover', 'takeHandover'];

const corsHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const anybody = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, X-Request-Id',
};

/** What is wrong with the CORS headers of answers. */
const mistakesIn = (answers: readonly Provoked[]) =>
  answers.flatMap(({ name, path, method, status, response }) => {
    const found = corsHeaders(response.headers);
    const isPreflight = method === 'OPTIONS' && status === 204;
    const methods = operations[name].methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
    const expected = !openOperations.includes(name)
      ? {}
      : isPreflight
        ? {
            ...anybody,
            'access-control-allow-methods': methods.join(', '),
            'access-control-allow-headers': 'Authorization, Content-Encoding, Content-Type',
            'access-control-max-age': '86400',
          }
        : anybody;
    const sorted = (headers: object) => JSON.stringify(Object.entries(headers).sort());
    return sorted(found) === sorted(expected) ? [] : [`${method} ${path} ${status}: ${sorted(found)}`];
  });

test('the operations that are open to pages are those that a page needs', () => {
  const open = operationNames.filter((name) => 'openToPages' in operations[name]);
  expect(open.sort()).toEqual([...openOperations].sort());
});

describe('every answer of an operation', () => {
  let answers: Provoked[];
  beforeAll(async () => {
    answers = await provokeAll();
  });

  it('was provoked with every status', () => {
    const statusesOf = (openToPages: boolean) =>
      [...new Set(answers.filter((each) => each.openToPages === openToPages).map(({ status }) => status))].sort();
    expect(statusesOf(true)).toEqual([200, 204, 400, 401, 403, 404, 405, 413, 414, 415, 429, 500, 503]);
    expect(statusesOf(false)).toEqual([200, 400, 401, 403, 405, 413, 414, 415, 429, 500, 503]);
  });

  it('may be read by any page, without credentials, where a page may ask; by none elsewhere', () => {
    expect(mistakesIn(answers)).toEqual([]);
  });

  it('is seen to be wrong when it is', async (context) => {
    const weakened = await provokeAll((app) => ({
      request: async (...asked: Parameters<typeof app.request>) => {
        const response = await app.request(...asked);
        const headers = new Headers(response.headers);
        if (response.status === 429) headers.delete('Access-Control-Allow-Origin');
        if (response.status === 405) headers.set('Access-Control-Allow-Origin', '*');
        if (response.status === 413) headers.set('Access-Control-Allow-Credentials', 'true');
        return new Response(null, { status: response.status, headers });
      },
    }));
    const seen = mistakesIn(weakened);
    const statuses = new Set(seen.map((mistake) => / (\d+):/.exec(mistake)?.[1]));
    expect([...statuses].sort()).toEqual(['405', '413', '429']);
    report(context, {
      fault: 'CORS',
      count: `${answers.length} answers with ${new Set(answers.map(({ status }) => status)).size} statuses, on ${operationPaths.length} paths`,
      result: `${mistakesIn(answers).length} that allow another page than the design says, or do not allow one that it says`,
      weakened: `other headers with ${statuses.size} of the statuses: ${seen.length} of ${weakened.length} answers`,
    });
  });
});

describe('a preflight that asks for headers of a wrapper around fetch', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  it('is allowed them where a page may ask, except the one of the console, and nothing elsewhere', async () => {
    for (const { name, path } of operationPaths) {
      const headers = {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,x-firsthand-console,x-requested-with',
      };
      const response = await service.app.request(path, { method: 'OPTIONS', headers }, fromHere);
      expect([path, response.headers.get('access-control-allow-headers')]).toEqual([
        path,
        openOperations.includes(name) ? 'Authorization, Content-Encoding, Content-Type, x-requested-with' : null,
      ]);
    }
  });
});

describe('what is served besides', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  it('is closed to pages of other origins, the tracker’s files aside, which hold nothing of anybody', async () => {
    const known = new Set<string>(operationPaths.map(({ path }) => path));
    const others = [...service.paths.filter((path) => !known.has(path)), '/nowhere'];
    expect(others).toEqual(
      expect.arrayContaining(['/healthz', '/readyz', '/openapi.json', '/main.js', '/tracker.js', '/demo/']),
    );
    for (const path of others) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' };
        const response = await service.app.request(path, { method, headers }, fromHere);
        await response.body?.cancel();
        const isTracker = /^\/(?:(?:tracker|main)[\w.]*\.js|integrity\.json|licenses\.txt)$/.test(path);
        expect([path, method, response.headers.get('access-control-allow-origin')]).toEqual([
          path,
          method,
          isTracker ? '*' : null,
        ]);
        expect(response.headers.get('access-control-allow-credentials')).toBeNull();
      }
    }
  });
});

describe('a simple cross-site POST', () => {
  /** Which writes were asked of the store; what is refused for its content is only noted. */
  let written: string[] = [];
  const recording = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name: keyof Store) => {
        if ((writeNames as readonly string[]).includes(name) && name !== 'keepRefused') written.push(name);
        return target[name];
      },
    });
  let service: Service;
  beforeAll(async () => {
    service = await openService({ wrap: recording });
  });
  afterAll(() => service.close());

  /** The bodies that a page may send anywhere without asking first (Fetch Standard, "CORS-safelisted request-header"). */
  const simpleBodies: Record<string, (fields: object) => NonNullable<RequestInit['body']>> = {
    'a form': (fields) => new URLSearchParams(asText(fields as Record<string, unknown>)),
    'a multipart form': (fields) => {
      const form = new FormData();
      for (const [name, value] of asText(fields as Record<string, unknown>)) form.append(name, value);
      return form;
    },
    'JSON as text': (fields) => JSON.stringify(fields),
  };

  const whoSends = (token: string | undefined) => ({
    'in a cookie': { field: undefined, cookie: `tokenUUID=${token}; Authorization=Bearer ${token}` },
    'as a field': { field: token, cookie: '' },
  });

  const nothing = { done: [], answered: [] };

  /** What a page of another site does with a token that it has, or that the browser has. */
  const sendAll = async (kind: 'browser' | 'server' | 'operator', how: 'in a cookie' | 'as a field') => {
    const { field, cookie } = whoSends(service.tokens[kind])[how];
    const done = new Set<string>();
    const answered = new Set<string>();
    for (const { name, path, operation } of operationPaths) {
      for (const body of Object.values(simpleBodies)) {
        for (const method of operation.methods) {
          const input = { ...(field && { tokenUUID: field }), ...(await smallestInput[name](service, kind)) };
          const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', ...(cookie && { cookie }) };
          written = [];
          const response =
            method === 'POST'
              ? await service.app.request(path, { method, headers, body: body(input) })
              : await service.app.request(`${path}?${new URLSearchParams(asText(input))}`, { method, headers });
          await response.body?.cancel();
          for (const write of written) done.add(write);
          if (response.status === 200) answered.add(name);
        }
      }
    }
    return { done: [...done].sort(), answered: [...answered].sort() };
  };

  it.each(['browser', 'server', 'operator'] as const)(
    'changes nothing by a cookie with the token of kind %s',
    async (kind) => {
      expect(await sendAll(kind, 'in a cookie')).toEqual(nothing);
    },
  );

  it('changes nothing by a secret token that a page has got hold of', async () => {
    expect(await sendAll('server', 'as a field')).toEqual(nothing);
    expect(await sendAll('operator', 'as a field')).toEqual(nothing);
  });

  it('logs events and claims with a browser token, which is what that is for', async () => {
    expect(await sendAll('browser', 'as a field')).toEqual({
      done: ['createContact', 'logEvents'],
      // A page gets handovers for its own host only.
      answered: openOperations.filter((name) => !name.endsWith('Handover')).sort(),
    });
  });
});
