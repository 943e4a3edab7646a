/** Provokes every kind of response from every path: each status with the simplest request that causes it. */
import { limits } from '@firsthand/contract/limits';
import type { OperationName } from '@firsthand/contract/operations';
import type { Hono } from 'hono';
import { Refusal } from '../../../src/shared/refusal.ts';
import type { Store } from '../../../src/store/store.ts';
import { smallestInput } from '../../fixtures/requests.ts';
import { type Fields, noRateLimits, toStrings } from '../../fixtures/scene.ts';
import { openService, operationPaths, type Service } from './service.ts';

export interface ProvokedResponse {
  readonly name: OperationName;
  readonly path: string;
  readonly method: string;
  readonly openToPages: boolean;
  readonly status: number;
  readonly response: Response;
}

const pageOrigin = 'https://shop.example';

/** Puts fields into the body or the query, depending on the method. */
const buildRequest = (
  path: string,
  method: string,
  fields: Fields,
  headers: Record<string, string> = {},
): [string, RequestInit] =>
  method === 'POST'
    ? [path, { method, headers: { Origin: pageOrigin, ...headers }, body: JSON.stringify(fields) }]
    : [`${path}?${new URLSearchParams(toStrings(fields))}`, { method, headers: { Origin: pageOrigin, ...headers } }];

type RequestBuilder = (
  service: Service,
  path: string,
  method: string,
  name: OperationName,
) => Promise<[string, RequestInit]>;

const tokenFor = ({ tokens }: Service, name: OperationName) =>
  operationPaths.find((each) => each.name === name)?.operation.tokens.includes('browser')
    ? { kind: 'browser' as const, tokenUUID: tokens.browser }
    : { kind: 'server' as const, tokenUUID: tokens.server };

const validRequest: RequestBuilder = async (service, path, method, name) => {
  const { kind, tokenUUID } = tokenFor(service, name);
  const [target, init] = buildRequest(path, method, { tokenUUID, ...(await smallestInput[name](service, kind)) });
  // Sends no Origin with a secret token, which would be refused.
  if (kind === 'server') delete (init.headers as Record<string, string>).Origin;
  return [target, init];
};

const simple =
  (fields: (service: Service) => Fields, init: RequestInit = {}): RequestBuilder =>
  async (service, path, method) => {
    const [target, request] = buildRequest(path, method, fields(service));
    return [target, { ...request, ...init }];
  };

const onlyToken = simple(({ tokens }) => ({ tokenUUID: tokens.browser }));

const requestKinds: Readonly<Record<string, RequestBuilder>> = {
  validRequest,
  'no token': simple(() => ({})),
  'an unknown token': simple(() => ({ tokenUUID: 'browser_unknown' })),
  'a server token from a page': simple(({ tokens }) => ({ tokenUUID: tokens.server })),
  'an operator token from a page': simple(({ tokens }) => ({ tokenUUID: tokens.operator })),
  'only a browser token': onlyToken,
  'an unknown contact': simple(({ tokens }) => ({
    tokenUUID: tokens.browser,
    contactUUID: 'nobody',
    eventID: 1,
  })),
  'another method': simple(() => ({}), { method: 'PUT' }),
  'a preflight': simple(() => ({}), {
    method: 'OPTIONS',
    headers: { Origin: pageOrigin, 'Access-Control-Request-Method': 'POST' },
  }),
  'a body that is not JSON': async (_, path, method) => [
    path,
    { method, headers: { Origin: pageOrigin }, ...(method === 'POST' && { body: '{' }) },
  ],
  'a body that is too large': async (_, path, method) => [
    path,
    {
      method,
      headers: { Origin: pageOrigin },
      ...(method === 'POST' && { body: 'x'.repeat(limits.batchBodyBytes + 1) }),
    },
  ],
  'a body with an unsupported type': async (_, path, method) => [
    path,
    { method, headers: { Origin: pageOrigin, 'Content-Type': 'image/png' }, ...(method === 'POST' && { body: 'x' }) },
  ],
  'a URL that is too long': async (_, path, method) => [
    `${path}?${'x'.repeat(limits.urlBytes)}`,
    { method, headers: { Origin: pageOrigin } },
  ],
};

type Fault = () => Error;

/** Wraps a store so that it fails on demand. */
const createFaulty = () => {
  let fault: Fault | undefined;
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name: keyof Store) =>
        fault === undefined || name === 'findAccess' ? target[name] : () => Promise.reject(fault?.()),
    });
  const during = (cause: Fault) => async (send: () => Promise<Response>) => {
    fault = cause;
    const response = await send();
    fault = undefined;
    return response;
  };
  return { wrap, during };
};

interface Scenario {
  readonly open: () => Promise<Service>;
  readonly requests: readonly RequestBuilder[];
  readonly around?: (send: () => Promise<Response>) => Promise<Response>;
}

/** Services, some of which have a fault or a limit, with the requests to send to each. */
const listScenarios = (): Scenario[] => {
  const full = createFaulty();
  const broken = createFaulty();
  const guess = simple(() => ({ tokenUUID: 'browser_unknown' }));
  const guesses = { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 1 } };
  return [
    { open: () => openService(), requests: Object.values(requestKinds) },
    { open: () => openService({ account: { accountOrigin: ['https://only.example'] } }), requests: [onlyToken] },
    { open: () => openService({ rateLimits: guesses }), requests: [guess, guess] },
    {
      open: () => openService({ wrap: full.wrap }),
      requests: [validRequest],
      around: full.during(() => new Refusal('unavailable', { retryAfterSeconds: 1 })),
    },
    {
      open: () => openService({ wrap: broken.wrap }),
      requests: [validRequest],
      around: broken.during(() => new Error('broken')),
    },
  ];
};

const sendDirectly = (send: () => Promise<Response>) => send();

/** Sends every kind of request to every path of every operation. `weaken` can replace the application. */
export const provokeResponses = async (
  weaken: (app: Hono) => Pick<Hono, 'request'> = (app) => app,
): Promise<ProvokedResponse[]> => {
  const responses: ProvokedResponse[] = [];
  for (const { open, requests, around = sendDirectly } of listScenarios()) {
    const service = await open();
    const app = weaken(service.app);
    for (const { name, operation, path, openToPages } of operationPaths) {
      for (const build of requests) {
        for (const method of operation.methods) {
          const [target, init] = await build(service, path, method, name);
          const response = await around(async () => app.request(target, init));
          const { status } = response;
          responses.push({ name, path, method: init.method ?? method, openToPages, status, response });
          await response.body?.cancel();
        }
      }
    }
    await service.close();
  }
  return responses;
};
