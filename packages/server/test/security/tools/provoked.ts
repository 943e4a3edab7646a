/** Every answer that can be provoked from a path: each of the statuses, by the plainest request that leads to it. */
import { limits } from '@firsthand/contract/limits';
import type { OperationName } from '@firsthand/contract/operations';
import type { Hono } from 'hono';
import { Refusal } from '../../../src/shared/refusal.ts';
import type { Store } from '../../../src/store/store.ts';
import { smallestInput } from '../../fixtures/requests.ts';
import { asText, type Fields, noRateLimits } from '../../fixtures/scene.ts';
import { openService, operationPaths, type Service } from './service.ts';

export interface Provoked {
  readonly name: OperationName;
  readonly path: string;
  readonly method: string;
  readonly openToPages: boolean;
  readonly status: number;
  readonly response: Response;
}

const from = 'https://shop.example';

/** Fields as the method carries them. */
const carry = (
  path: string,
  method: string,
  fields: Fields,
  headers: Record<string, string> = {},
): [string, RequestInit] =>
  method === 'POST'
    ? [path, { method, headers: { Origin: from, ...headers }, body: JSON.stringify(fields) }]
    : [`${path}?${new URLSearchParams(asText(fields))}`, { method, headers: { Origin: from, ...headers } }];

type Way = (service: Service, path: string, method: string, name: OperationName) => Promise<[string, RequestInit]>;

const tokenFor = ({ tokens }: Service, name: OperationName) =>
  operationPaths.find((each) => each.name === name)?.operation.tokens.includes('browser')
    ? { kind: 'browser' as const, tokenUUID: tokens.browser }
    : { kind: 'server' as const, tokenUUID: tokens.server };

const good: Way = async (service, path, method, name) => {
  const { kind, tokenUUID } = tokenFor(service, name);
  const [target, init] = carry(path, method, { tokenUUID, ...(await smallestInput[name](service, kind)) });
  // A secret token that comes from a page is refused; one that says nothing of a page is not.
  if (kind === 'server') delete (init.headers as Record<string, string>).Origin;
  return [target, init];
};

const simple =
  (fields: (service: Service) => Fields, init: RequestInit = {}): Way =>
  async (service, path, method) => {
    const [target, made] = carry(path, method, fields(service));
    return [target, { ...made, ...init }];
  };

const nothingButToken = simple(({ tokens }) => ({ tokenUUID: tokens.browser }));

const ways: Readonly<Record<string, Way>> = {
  good,
  'no token': simple(() => ({})),
  'an unknown token': simple(() => ({ tokenUUID: 'browser_unknown' })),
  'a server token from a page': simple(({ tokens }) => ({ tokenUUID: tokens.server })),
  'an operator token from a page': simple(({ tokens }) => ({ tokenUUID: tokens.operator })),
  'nothing but a browser token': nothingButToken,
  'a contact that is not there': simple(({ tokens }) => ({
    tokenUUID: tokens.browser,
    contactUUID: 'nobody',
    eventID: 1,
  })),
  'another method': simple(() => ({}), { method: 'PUT' }),
  'a preflight': simple(() => ({}), {
    method: 'OPTIONS',
    headers: { Origin: from, 'Access-Control-Request-Method': 'POST' },
  }),
  'a body that is no JSON': async (_, path, method) => [
    path,
    { method, headers: { Origin: from }, ...(method === 'POST' && { body: '{' }) },
  ],
  'a body that is too large': async (_, path, method) => [
    path,
    { method, headers: { Origin: from }, ...(method === 'POST' && { body: 'x'.repeat(limits.batchBodyBytes + 1) }) },
  ],
  'a body of another kind': async (_, path, method) => [
    path,
    { method, headers: { Origin: from, 'Content-Type': 'image/png' }, ...(method === 'POST' && { body: 'x' }) },
  ],
  'a URL that is too long': async (_, path, method) => [
    `${path}?${'x'.repeat(limits.urlBytes)}`,
    { method, headers: { Origin: from } },
  ],
};

type Fault = () => Error;

/** A store that works until something is wrong with it. */
const createFaulty = () => {
  let fault: Fault | undefined;
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name: keyof Store) =>
        fault === undefined || name === 'findAccess' ? target[name] : () => Promise.reject(fault?.()),
    });
  const during = (wrong: Fault) => async (send: () => Promise<Response>) => {
    fault = wrong;
    const response = await send();
    fault = undefined;
    return response;
  };
  return { wrap, during };
};

interface Surroundings {
  readonly open: () => Promise<Service>;
  readonly ask: readonly Way[];
  readonly around?: (send: () => Promise<Response>) => Promise<Response>;
}

/** Services in which something is the matter, each with the ways to ask them. */
const surroundings = (): Surroundings[] => {
  const full = createFaulty();
  const broken = createFaulty();
  const guess = simple(() => ({ tokenUUID: 'browser_unknown' }));
  const guesses = { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 1 } };
  return [
    { open: () => openService(), ask: Object.values(ways) },
    { open: () => openService({ account: { accountOrigin: ['https://only.example'] } }), ask: [nothingButToken] },
    { open: () => openService({ rateLimits: guesses }), ask: [guess, guess] },
    {
      open: () => openService({ wrap: full.wrap }),
      ask: [good],
      around: full.during(() => new Refusal('unavailable', { retryAfterSeconds: 1 })),
    },
    { open: () => openService({ wrap: broken.wrap }), ask: [good], around: broken.during(() => new Error('broken')) },
  ];
};

const plainly = (send: () => Promise<Response>) => send();

/** Asks every path of every operation in every way. The application may be changed before it is asked. */
export const provokeAll = async (weaken: (app: Hono) => Pick<Hono, 'request'> = (app) => app): Promise<Provoked[]> => {
  const found: Provoked[] = [];
  for (const { open, ask, around = plainly } of surroundings()) {
    const service = await open();
    const app = weaken(service.app);
    for (const { name, operation, path, openToPages } of operationPaths) {
      for (const way of ask) {
        for (const method of operation.methods) {
          const [target, init] = await way(service, path, method, name);
          const response = await around(async () => app.request(target, init));
          const { status } = response;
          found.push({ name, path, method: init.method ?? method, openToPages, status, response });
          await response.body?.cancel();
        }
      }
    }
    await service.close();
  }
  return found;
};
