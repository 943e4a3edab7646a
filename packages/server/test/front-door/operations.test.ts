/** Calls every operation on each of its paths, with every encoding of the request and every kind of token. */

import { type TokenKind, tokenKinds } from '@firsthand/contract/account/tokens';
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { type ErrorBody, errorBody } from '@firsthand/contract/response';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeContact, smallestInput } from '../fixtures/requests.ts';
import { type Fields, openScene, type Scene, toStrings } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
  await scene.post('/logEvent', { tokenUUID: scene.tokens.browser, userUUID: 'user_aaaaaaaaaaaaaaaa', eventID: 1 });
});
afterAll(() => scene.close());

interface RequestParts {
  readonly query?: Fields;
  readonly init?: RequestInit;
}
type Encode = (fields: Fields, token: string | undefined) => RequestParts;

const withToken = (fields: Fields, token: string | undefined): Fields =>
  token === undefined ? fields : { tokenUUID: token, ...fields };
const asBody = (body: NonNullable<RequestInit['body']>, type?: string): RequestParts => ({
  init: { method: 'POST', body, ...(type && { headers: { 'Content-Type': type } }) },
});
const form = (fields: Fields) => {
  const data = new FormData();
  for (const [name, value] of toStrings(fields)) data.append(name, value);
  return data;
};
const withAuthorization = (token: string | undefined, init: RequestInit): RequestInit =>
  token === undefined ? init : { ...init, headers: { Authorization: `Bearer ${token}` } };

const postEncodings: Record<string, Encode> = {
  'a JSON body': (fields, token) => asBody(JSON.stringify(withToken(fields, token)), 'application/json'),
  'a body of JSON as text': (fields, token) =>
    asBody(JSON.stringify(withToken(fields, token)), 'text/plain;charset=UTF-8'),
  'a body without a type': (fields, token) =>
    asBody(new TextEncoder().encode(JSON.stringify(withToken(fields, token)))),
  'a form': (fields, token) => asBody(new URLSearchParams(toStrings(withToken(fields, token)))),
  'a multipart form': (fields, token) => asBody(form(withToken(fields, token))),
  'a query string, by POST': (fields, token) => ({ query: withToken(fields, token), init: { method: 'POST' } }),
  'a JSON body and a query string': (fields, token) => ({
    query: withToken({}, token),
    init: { method: 'POST', body: JSON.stringify(fields) },
  }),
  'a JSON body and an Authorization header': (fields, token) => ({
    init: withAuthorization(token, { method: 'POST', body: JSON.stringify(fields) }),
  }),
};
const getEncodings: Record<string, Encode> = {
  'a query string': (fields, token) => ({ query: withToken(fields, token) }),
  'a query string and an Authorization header': (fields, token) => ({
    query: fields,
    init: withAuthorization(token, {}),
  }),
};
const encodings = { POST: postEncodings, GET: getEncodings };

const callers = ['nobody', 'unknown', 'revoked', ...tokenKinds] as const;
type Caller = (typeof callers)[number];

const tokenOf = (caller: Caller): string | undefined => {
  if (caller === 'nobody') return undefined;
  return caller === 'unknown' ? 'browser_doesnotexistdoesnotexist' : scene.tokens[caller];
};

const isKind = (caller: Caller): caller is TokenKind => (tokenKinds as readonly string[]).includes(caller);

/** The expected status and error code for each caller. */
const expectedOf = ({ tokens }: Operation, caller: Caller): [status: number, code: string | undefined] => {
  if (caller === 'nobody') return [401, 'missing_token'];
  if (!isKind(caller)) return [401, 'invalid_token'];
  return tokens.includes(caller) ? [200, undefined] : [403, 'token_kind'];
};

const request = (path: string, { query, init }: RequestParts) =>
  scene.app.request(query ? `${path}?${new URLSearchParams(toStrings(query))}` : path, init);

/** Makes response schemas strict: an undeclared member fails. */
const strict = (schema: z.ZodType): z.ZodType => (schema instanceof z.ZodObject ? schema.strict() : schema);

const checkSchema = (schema: z.ZodType, body: unknown) => {
  const result = strict(schema).safeParse(body);
  return result.success ? 'valid' : z.prettifyError(result.error);
};

/** Returns a stream's first event. */
const readStream = async (response: Response): Promise<unknown> => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!/^data: .*\n/m.test(text)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
};

const paths = operationNames.flatMap((name) => operations[name].paths as readonly string[]);

/**
 * Returns pairwise cases: each path with each encoding and each caller and, across all paths, each encoding with each
 * caller. That is a seventh of all combinations.
 */
const cases = (operation: Operation) =>
  operation.methods.flatMap((method) =>
    operation.paths.flatMap((path) => {
      const sends = Object.entries(encodings[method]);
      return Array.from({ length: Math.max(sends.length, callers.length) }, (_, nth) => {
        const [way, send] = sends[nth % sends.length] as [string, Encode];
        const caller = callers[(nth + paths.indexOf(path)) % callers.length] as Caller;
        return { method, path, way, caller, send, expected: expectedOf(operation, caller) };
      });
    }),
  );

describe.each(operationNames.filter((name) => name !== 'streamEvents'))('%s', (name: OperationName) => {
  const operation: Operation = operations[name];

  it.each(cases(operation))(
    'returns $expected for $method $path with $way and the token of $caller',
    async ({ path, send, caller, expected: [status, code] }) => {
      const fields = await smallestInput[name](scene, isKind(caller) ? caller : 'server');
      const response = await request(path, send(fields, tokenOf(caller)));
      const body = (await response.json()) as ErrorBody & { ignored?: string[] };
      expect([response.status, body.error?.code]).toEqual([status, code]);
      expect(body.status).toBe(String(status));
      expect(checkSchema(status === 200 ? operation.output : errorBody, body)).toBe('valid');
      expect(body.ignored).toBeUndefined();
    },
  );
});

describe('streamEvents', () => {
  it.each(cases(operations.streamEvents))(
    'returns $expected for $method $path with $way and the token of $caller',
    async ({ path, send, caller, expected: [status, code] }) => {
      const response = await request(
        path,
        send({ cursor: Buffer.from('e1.0').toString('base64url') }, tokenOf(caller)),
      );
      expect(response.status).toBe(status);
      if (status === 200) {
        expect(response.headers.get('content-type')).toBe('text/event-stream');
        const event = await readStream(response);
        expect(checkSchema(operations.streamEvents.output, event)).toBe('valid');
      } else {
        const body = (await response.json()) as ErrorBody & { ignored?: string[] };
        expect(body.error.code).toBe(code);
        expect(checkSchema(errorBody, body)).toBe('valid');
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

  it.each(paths)('accepts $allowed and no other method on $path', async ({ path, allowed, openToPages }) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'OPTIONS']) {
      const response = await scene.app.request(path, { method });
      const isPreflight = method === 'OPTIONS' && openToPages;
      expect([method, response.status]).toEqual([method, isPreflight ? 204 : allowed.includes(method) ? 401 : 405]);
      const allow = [...allowed, ...(openToPages ? ['OPTIONS'] : [])].join(', ');
      expect(response.headers.get('allow')).toBe(response.status === 405 ? allow : null);
    }
  });
});

describe('the published API', () => {
  it('returns exists, contactUUID and status from createContact', async () => {
    const { tokens } = scene;
    const { body } = await scene.post('/createContact', {
      tokenUUID: tokens.server,
      ...(await smallestInput.createContact(scene, 'server')),
    });
    expect(body).toEqual({ exists: false, contactUUID: expect.stringMatching(/^[\w-]{21}$/), status: '200' });
  });

  it('returns the published fields and our own from getContact', async () => {
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

  it('accepts the sample query string of logEvent by GET, and returns status', async () => {
    const fields = {
      userUUID: 'user_aaaaaaaaaaaaaaaa',
      eventID: '1',
      eventAttrArray: '[{"attrID":"a","attrValue":1}]',
    };
    const { body } = await scene.get('/logEvent', { tokenUUID: scene.tokens.browser, ...fields });
    expect(body).toEqual({ eventUUID: expect.any(String), status: '200' });
  });
});
