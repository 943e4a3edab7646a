/** Every operation, under each of its paths, sent in every way and with every kind of token: what it answers. */

import { type TokenKind, tokenKinds } from '@firsthand/contract/account/tokens';
import { type ErrorAnswer, errorAnswer } from '@firsthand/contract/answer';
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeContact, smallestInput } from '../fixtures/requests.ts';
import { asText, type Fields, openScene, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
  await scene.post('/logEvent', { tokenUUID: scene.tokens.browser, userUUID: 'user_aaaaaaaaaaaaaaaa', eventID: 1 });
});
afterAll(() => scene.close());

interface Sent {
  readonly query?: Fields;
  readonly init?: RequestInit;
}
type Way = (fields: Fields, token: string | undefined) => Sent;

const withToken = (fields: Fields, token: string | undefined): Fields =>
  token === undefined ? fields : { tokenUUID: token, ...fields };
const asBody = (body: NonNullable<RequestInit['body']>, type?: string): Sent => ({
  init: { method: 'POST', body, ...(type && { headers: { 'Content-Type': type } }) },
});
const form = (fields: Fields) => {
  const data = new FormData();
  for (const [name, value] of asText(fields)) data.append(name, value);
  return data;
};
const authorized = (token: string | undefined, init: RequestInit): RequestInit =>
  token === undefined ? init : { ...init, headers: { Authorization: `Bearer ${token}` } };

const waysOfPost: Record<string, Way> = {
  'a JSON body': (fields, token) => asBody(JSON.stringify(withToken(fields, token)), 'application/json'),
  'a body of JSON as text': (fields, token) =>
    asBody(JSON.stringify(withToken(fields, token)), 'text/plain;charset=UTF-8'),
  'a body without a type': (fields, token) =>
    asBody(new TextEncoder().encode(JSON.stringify(withToken(fields, token)))),
  'a form': (fields, token) => asBody(new URLSearchParams(asText(withToken(fields, token)))),
  'a multipart form': (fields, token) => asBody(form(withToken(fields, token))),
  'a query string, by POST': (fields, token) => ({ query: withToken(fields, token), init: { method: 'POST' } }),
  'a JSON body and a query string': (fields, token) => ({
    query: withToken({}, token),
    init: { method: 'POST', body: JSON.stringify(fields) },
  }),
  'a JSON body and an Authorization header': (fields, token) => ({
    init: authorized(token, { method: 'POST', body: JSON.stringify(fields) }),
  }),
};
const waysOfGet: Record<string, Way> = {
  'a query string': (fields, token) => ({ query: withToken(fields, token) }),
  'a query string and an Authorization header': (fields, token) => ({ query: fields, init: authorized(token, {}) }),
};
const ways = { POST: waysOfPost, GET: waysOfGet };

const callers = ['nobody', 'unknown', 'revoked', ...tokenKinds] as const;
type Caller = (typeof callers)[number];

const tokenOf = (caller: Caller): string | undefined => {
  if (caller === 'nobody') return undefined;
  return caller === 'unknown' ? 'browser_doesnotexistdoesnotexist' : scene.tokens[caller];
};

const isKind = (caller: Caller): caller is TokenKind => (tokenKinds as readonly string[]).includes(caller);

/** What each caller is answered: a status, and the code of an error. */
const expectedOf = ({ tokens }: Operation, caller: Caller): [status: number, code: string | undefined] => {
  if (caller === 'nobody') return [401, 'missing_token'];
  if (!isKind(caller)) return [401, 'invalid_token'];
  return tokens.includes(caller) ? [200, undefined] : [403, 'token_kind'];
};

const request = (path: string, { query, init }: Sent) =>
  scene.app.request(query ? `${path}?${new URLSearchParams(asText(query))}` : path, init);

/** Schemas of answers, so that a member they don't name is a mistake. */
const strict = (schema: z.ZodType): z.ZodType => (schema instanceof z.ZodObject ? schema.strict() : schema);

const parsed = (schema: z.ZodType, body: unknown) => {
  const result = strict(schema).safeParse(body);
  return result.success ? 'as the contract says' : z.prettifyError(result.error);
};

/** The first event of a stream. */
const readStream = async (response: Response): Promise<unknown> => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!/^data: .*\n/m.test(text)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
};

const paths = operationNames.flatMap((name) => operations[name].paths as readonly string[]);

/**
 * Pairwise: each path with each way of sending and with each caller, and, over all paths, each way with each caller. That is a
 * seventh of all combinations.
 */
const cases = (operation: Operation) =>
  operation.methods.flatMap((method) =>
    operation.paths.flatMap((path) => {
      const sends = Object.entries(ways[method]);
      return Array.from({ length: Math.max(sends.length, callers.length) }, (_, nth) => {
        const [way, send] = sends[nth % sends.length] as [string, Way];
        const caller = callers[(nth + paths.indexOf(path)) % callers.length] as Caller;
        return { method, path, way, caller, send, expected: expectedOf(operation, caller) };
      });
    }),
  );

describe.each(operationNames.filter((name) => name !== 'streamEvents'))('%s', (name: OperationName) => {
  const operation: Operation = operations[name];

  it.each(cases(operation))(
    'by $method to $path with $way and the token of $caller is answered $expected',
    async ({ path, send, caller, expected: [status, code] }) => {
      const fields = await smallestInput[name](scene, isKind(caller) ? caller : 'server');
      const response = await request(path, send(fields, tokenOf(caller)));
      const body = (await response.json()) as ErrorAnswer & { ignored?: string[] };
      expect([response.status, body.error?.code]).toEqual([status, code]);
      expect(body.status).toBe(String(status));
      expect(parsed(status === 200 ? operation.output : errorAnswer, body)).toBe('as the contract says');
      expect(body.ignored).toBeUndefined();
    },
  );
});

describe('streamEvents', () => {
  it.each(cases(operations.streamEvents))(
    'by $method to $path with $way and the token of $caller is answered $expected',
    async ({ path, send, caller, expected: [status, code] }) => {
      const response = await request(
        path,
        send({ cursor: Buffer.from('e1.0').toString('base64url') }, tokenOf(caller)),
      );
      expect(response.status).toBe(status);
      if (status === 200) {
        expect(response.headers.get('content-type')).toBe('text/event-stream');
        const event = await readStream(response);
        expect(parsed(operations.streamEvents.output, event)).toBe('as the contract says');
      } else {
        const body = (await response.json()) as ErrorAnswer & { ignored?: string[] };
        expect(body.error.code).toBe(code);
        expect(parsed(errorAnswer, body)).toBe('as the contract says');
      }
    },
  );
});

describe('every path', () => {
  const paths = operationNames.flatMap((name) => {
    const { methods, paths, openToPages }: Operation = operations[name];
    const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    return paths.map((path) => ({ path, allowed, openToPages: openToPages ?? false }));
  });

  it.each(paths)('$path takes $allowed and no other method', async ({ path, allowed, openToPages }) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'OPTIONS']) {
      const response = await scene.app.request(path, { method });
      const isPreflight = method === 'OPTIONS' && openToPages;
      expect([method, response.status]).toEqual([method, isPreflight ? 204 : allowed.includes(method) ? 401 : 405]);
      const allow = [...allowed, ...(openToPages ? ['OPTIONS'] : [])].join(', ');
      expect(response.headers.get('allow')).toBe(response.status === 405 ? allow : null);
    }
  });
});

describe('what is published', () => {
  it('createContact answers exists, contactUUID and status', async () => {
    const { tokens } = scene;
    const { body } = await scene.post('/createContact', {
      tokenUUID: tokens.server,
      ...(await smallestInput.createContact(scene, 'server')),
    });
    expect(body).toEqual({ exists: false, contactUUID: expect.stringMatching(/^[\w-]{21}$/), status: '200' });
  });

  it('getContact answers the published object, and ours beside it', async () => {
    const { tokens } = scene;
    const { contactUUID, contactEmailaddress } = await makeContact(scene);
    const { body } = await scene.get('/contact/getContact', { tokenUUID: tokens.server, contactUUID });
    expect(body).toEqual({
      contact: {
        contactUUID,
        contactExternalID: '',
        contactTitle: '',
        contactFirstname: '',
        contactLastname: '',
        contactEmailaddress,
        contactTelephone: '',
        contactMobile: '',
        contactJobRole: '',
        contactProfileID: 'customer',
        contactProfileName: 'customer',
        tag: [],
        contactAttr: [],
        contactStatus: 'active',
        createdTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedTime: expect.stringMatching(/Z$/),
        claimed: [],
      },
      status: '200',
    });
  });

  it('logEvent takes the sample as one JSON object by GET’s query string, and answers status', async () => {
    const fields = {
      userUUID: 'user_aaaaaaaaaaaaaaaa',
      eventID: '1',
      eventAttrArray: '[{"attrID":"a","attrValue":1}]',
    };
    const { body } = await scene.get('/logEvent', { tokenUUID: scene.tokens.browser, ...fields });
    expect(body).toEqual({ eventUUID: expect.any(String), status: '200' });
  });
});
