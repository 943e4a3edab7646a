/**
 * Tests which responses pages on other origins can read, and that the requests that these pages can send change
 * nothing.
 */
import { operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { writeNames } from '../../src/store/sqlite/calls.ts';
import type { Store } from '../../src/store/store.ts';
import { smallestInput } from '../fixtures/requests.ts';
import { toStrings } from '../fixtures/scene.ts';
import { report } from '../tools/report.ts';
import { type ProvokedResponse, provokeResponses } from './tools/provoke-responses.ts';
import { localConnection, openService, operationPaths, type Service } from './tools/service.ts';

/** From decision 23; repeated here because this test checks the table of operations. */
const openOperations = ['logEvent', 'logEvents', 'createContact', 'getContact', 'createHandover', 'takeHandover'];

const corsHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const anyPage = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, X-Request-Id',
};

/** Describes each response with wrong CORS headers. */
const findMistakes = (responses: readonly ProvokedResponse[]) =>
  responses.flatMap(({ name, path, method, status, response }) => {
    const actual = corsHeaders(response.headers);
    const isPreflight = method === 'OPTIONS' && status === 204;
    const methods = operations[name].methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
    const expected = !openOperations.includes(name)
      ? {}
      : isPreflight
        ? {
            ...anyPage,
            'access-control-allow-methods': methods.join(', '),
            'access-control-allow-headers': 'Authorization, Content-Encoding, Content-Type',
            'access-control-max-age': '86400',
          }
        : anyPage;
    const sorted = (headers: object) => JSON.stringify(Object.entries(headers).sort());
    return sorted(actual) === sorted(expected) ? [] : [`${method} ${path} ${status}: ${sorted(actual)}`];
  });

test('opens only the operations that a page needs', () => {
  const open = operationNames.filter((name) => 'openToPages' in operations[name]);
  expect(open.sort()).toEqual([...openOperations].sort());
});

describe('every response from an operation', () => {
  let responses: ProvokedResponse[];
  beforeAll(async () => {
    responses = await provokeResponses();
  });

  it('occurs with every status', () => {
    const statusesOf = (openToPages: boolean) =>
      [...new Set(responses.filter((each) => each.openToPages === openToPages).map(({ status }) => status))].sort();
    expect(statusesOf(true)).toEqual([200, 204, 400, 401, 403, 404, 405, 413, 414, 415, 429, 500, 503]);
    // 409, because this server sends no mail.
    expect(statusesOf(false)).toEqual([200, 400, 401, 403, 405, 409, 413, 414, 415, 429, 500, 503]);
  });

  it('is readable by any page, without credentials, if pages are allowed to call the operation, and otherwise by none', () => {
    expect(findMistakes(responses)).toEqual([]);
  });

  it('fails this check if its headers are wrong', async (context) => {
    const weakened = await provokeResponses((app) => ({
      request: async (...args: Parameters<typeof app.request>) => {
        const response = await app.request(...args);
        const headers = new Headers(response.headers);
        if (response.status === 429) headers.delete('Access-Control-Allow-Origin');
        if (response.status === 405) headers.set('Access-Control-Allow-Origin', '*');
        if (response.status === 413) headers.set('Access-Control-Allow-Credentials', 'true');
        return new Response(null, { status: response.status, headers });
      },
    }));
    const mistakes = findMistakes(weakened);
    const statuses = new Set(mistakes.map((mistake) => / (\d+):/.exec(mistake)?.[1]));
    expect([...statuses].sort()).toEqual(['405', '413', '429']);
    report(context, {
      fault: 'CORS',
      count: `${responses.length} responses with ${new Set(responses.map(({ status }) => status)).size} statuses, on ${operationPaths.length} paths`,
      result: `${findMistakes(responses).length} with wrong CORS headers`,
      weakened: `wrong headers with ${statuses.size} of the statuses: ${mistakes.length} of ${weakened.length} responses detected`,
    });
  });
});

describe('a preflight for headers that a wrapper around fetch adds', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  it('is allowed for operations that pages call, but not with the console’s header, and refused otherwise', async () => {
    for (const { name, path } of operationPaths) {
      const headers = {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,x-firsthand-console,x-requested-with',
      };
      const response = await service.app.request(path, { method: 'OPTIONS', headers }, localConnection);
      expect([path, response.headers.get('access-control-allow-headers')]).toEqual([
        path,
        openOperations.includes(name) ? 'Authorization, Content-Encoding, Content-Type, x-requested-with' : null,
      ]);
    }
  });
});

describe('every other path', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
  });
  afterAll(() => service.close());

  it('can’t be read by pages on other origins, except the tracker’s files, which contain no data', async () => {
    const ownPaths = new Set<string>(operationPaths.map(({ path }) => path));
    const others = [...service.paths.filter((path) => !ownPaths.has(path)), '/nowhere'];
    expect(others).toEqual(
      expect.arrayContaining(['/healthz', '/readyz', '/openapi.json', '/main.js', '/tracker.js', '/demo/']),
    );
    for (const path of others) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' };
        const response = await service.app.request(path, { method, headers }, localConnection);
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
  /** The writes that reached the store, except those to the list of refused requests. */
  let written: string[] = [];
  const recording = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name: keyof Store) => {
        if ((writeNames as readonly string[]).includes(name) && name !== 'addRefused') written.push(name);
        return target[name];
      },
    });
  let service: Service;
  beforeAll(async () => {
    service = await openService({ wrap: recording });
  });
  afterAll(() => service.close());

  /**
   * The bodies that a page can send to any origin without a preflight (Fetch Standard, "CORS-safelisted
   * request-header").
   */
  const simpleBodies: Record<string, (fields: object) => NonNullable<RequestInit['body']>> = {
    'a form': (fields) => new URLSearchParams(toStrings(fields as Record<string, unknown>)),
    'a multipart form': (fields) => {
      const form = new FormData();
      for (const [name, value] of toStrings(fields as Record<string, unknown>)) form.append(name, value);
      return form;
    },
    'JSON as text': (fields) => JSON.stringify(fields),
  };

  const credentialsOf = (token: string | undefined) => ({
    'in a cookie': { field: undefined, cookie: `tokenUUID=${token}; Authorization=Bearer ${token}` },
    'as a field': { field: token, cookie: '' },
  });

  const nothing = { writes: [], answered: [] };

  /** Calls every operation from a page on another site. The token is a field, or in the browser's cookie. */
  const sendAll = async (kind: 'browser' | 'server' | 'operator', how: 'in a cookie' | 'as a field') => {
    const { field, cookie } = credentialsOf(service.tokens[kind])[how];
    const writes = new Set<string>();
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
              : await service.app.request(`${path}?${new URLSearchParams(toStrings(input))}`, { method, headers });
          await response.body?.cancel();
          for (const write of written) writes.add(write);
          if (response.status === 200) answered.add(name);
        }
      }
    }
    return { writes: [...writes].sort(), answered: [...answered].sort() };
  };

  it.each(['browser', 'server', 'operator'] as const)('changes nothing with a %s token in a cookie', async (kind) => {
    expect(await sendAll(kind, 'in a cookie')).toEqual(nothing);
  });

  it('changes nothing with a secret token that the page has obtained', async () => {
    expect(await sendAll('server', 'as a field')).toEqual(nothing);
    expect(await sendAll('operator', 'as a field')).toEqual(nothing);
  });

  it('logs events and claims with a browser token, as intended', async () => {
    expect(await sendAll('browser', 'as a field')).toEqual({
      writes: ['createContact', 'logEvents'],
      // Handovers are refused, because a page can get them only for its own host.
      answered: openOperations.filter((name) => !name.endsWith('Handover')).sort(),
    });
  });
});
