/** The OpenAPI document against a server: each example is sent, each error code provoked, and each answer compared with its schema. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { codesOf } from '@firsthand/contract/document/operation-errors';
import { type ErrorCode, errors } from '@firsthand/contract/errors';
import { openAPI } from '@firsthand/contract/openapi';
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Refusal } from '../src/shared/refusal.ts';
import type { Store } from '../src/store/store.ts';
import { createFakeReports } from './fixtures/reports/fake-reports.ts';
import { makeContact, newAddress, newUserUUID, smallestInput } from './fixtures/requests.ts';
import { asText, type Fields, noRateLimits, openScene, type Scene } from './fixtures/scene.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked through.
type Any = any;

const document: Any = openAPI({ server: '/' });
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi');

const pointer = (...steps: string[]) => steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
const validators = new Map<string, ValidateFunction>();
/** What is wrong with a value by the schema at a place of the document; [] if nothing is. */
const problemsOf = (place: string, value: unknown): unknown[] => {
  const validate = validators.get(place) ?? ajv.compile({ $ref: `openapi#/${place}` });
  validators.set(place, validate);
  return validate(value) ? [] : (validate.errors ?? []);
};

interface Item {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly item: Any;
}
const items: readonly Item[] = operationNames.flatMap((name) =>
  operations[name].paths.flatMap((path) =>
    operations[name].methods.map((method) => ({
      name,
      operation: operations[name],
      method,
      path,
      item: document.paths[path][method.toLowerCase()],
    })),
  ),
);

/** The place of the schema of an answer. */
const placeOf = ({ path, method, item }: Item, status: number): string => {
  const [, ...steps] = (item.responses[status].$ref ?? '').split('/');
  const response = steps.length > 0 ? steps : ['paths', path, method.toLowerCase(), 'responses', String(status)];
  const type = item.responses[status].content?.['text/event-stream'] ? 'text/event-stream' : 'application/json';
  return pointer(...response, 'content', type, 'schema');
};

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const kindFor = ({ tokens }: Operation): TokenKind => (tokens.includes('server') ? 'server' : 'operator');

/** The first message of a stream. */
const readStream = async (response: Response): Promise<unknown> => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!/^data: .*\n/m.test(text)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
};

describe('each example', () => {
  /** Fields that name what must exist: the document's example names nothing of this server. */
  const named = [
    'contactUUID',
    'otherContactUUID',
    'linkID',
    'claimID',
    'tokenID',
    'memberID',
    'shareID',
    'refusedID',
    'handover',
  ];
  const namedIn: { readonly [Name in OperationName]?: string } = {
    unlinkUser: 'userUUID',
    deleteSegment: 'segmentName',
    deleteView: 'viewName',
  };

  /** The example of a request, with names of what exists. */
  const exampleOf = async ({ name, operation, method, item }: Item): Promise<Fields> => {
    const shown = (item.parameters ?? []).flatMap(({ name, content, ...rest }: Any) => {
      const parameter = content?.['application/json'] ?? rest;
      return 'example' in parameter ? [[name, parameter.example]] : [];
    });
    const example: Record<string, unknown> =
      method === 'POST' ? item.requestBody.content['application/json'].example : Object.fromEntries(shown);
    const existing = await smallestInput[name](scene, kindFor(operation));
    const isNamed = (field: string) => named.includes(field) || namedIn[name] === field;
    return Object.fromEntries(
      Object.entries(example).map(([field, value]) => [field, isNamed(field) ? existing[field] : value]),
    );
  };

  /** The fields as the document says that a query string has them. */
  const queryOf = ({ item }: Item, fields: Fields) =>
    new URLSearchParams(
      Object.entries(fields).map(([field, value]): [string, string] => {
        const { explode, content } = item.parameters.find(({ name }: Any) => name === field) ?? {};
        if (content) return [field, JSON.stringify(value)];
        return [field, Array.isArray(value) && explode === false ? value.join(',') : String(value)];
      }),
    );

  it.each(items)('of $item.operationId is accepted, and answered as the document says', async (one) => {
    const { method, path, item, operation } = one;
    const fields = await exampleOf(one);
    const headers = { Authorization: `Bearer ${scene.tokens[kindFor(operation)]}` };
    if (method === 'POST') {
      const place = pointer('paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema');
      expect(problemsOf(place, item.requestBody.content['application/json'].example)).toEqual([]);
      const response = await scene.post(path, fields, headers);
      expect(response).toMatchObject({ status: 200 });
      expect(response.body.ignored).toBeUndefined();
      expect(problemsOf(placeOf(one, 200), response.body)).toEqual([]);
      for (const entry of [response.body.event, response.body.contact].flat()) {
        expect(entry?.error, 'each entry of a list is accepted').toBeUndefined();
      }
    } else {
      if (operation.stream) await scene.post('/logEvent', { tokenUUID: scene.tokens.server, ...fields, eventID: 1 });
      const cursor = operation.stream ? { cursor: Buffer.from('e1.0').toString('base64url') } : {};
      const response = await scene.app.request(`${path}?${queryOf(one, { ...fields, ...cursor })}`, { headers });
      expect(response.status).toBe(200);
      const body = operation.stream ? await readStream(response) : await response.json();
      expect(problemsOf(placeOf(one, 200), body)).toEqual([]);
    }
  });

  it.each(items.filter(({ operation }) => !operation.stream))(
    'of an answer of $item.operationId fits its schema',
    (one) => {
      for (const status of Object.keys(one.item.responses).map(Number)) {
        const { $ref, ...inline } = one.item.responses[status];
        const { content } = $ref ? document.components.responses[$ref.split('/').at(-1)] : inline;
        expect(problemsOf(placeOf(one, status), content['application/json'].example)).toEqual([]);
      }
    },
  );
});

/** A request that is to be refused, beside what an acceptable one has. */
interface Attempt {
  readonly fields?: Fields;
  readonly without?: readonly string[];
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: NonNullable<RequestInit['body']>;
  readonly query?: string;
  readonly in?: Scene;
}
type Provoke = (one: Item) => Promise<Attempt> | Attempt;

/** The fields that the operation has. */
const onlyOf = ({ operation }: Item, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => field in (operation.input as Any).shape));

const from = '2026-11-01';
const sharedReport = (filter?: Fields) => ({
  part: 'totals',
  operation: 'reportTotals',
  request: { from, to: '2026-12-01', filter },
});
/** Fields that suffice for a request in another scene; reportPeople takes only one of `by` and `step`. */
const enough = (): Fields => ({
  userUUID: newUserUUID(),
  contactEmailaddress: newAddress(),
  contactProfileID: 'customer',
  eventID: 1,
  event: [{ eventID: 1 }],
  from,
  by: 'event',
  step: [{ event: 1 }, { event: 2 }],
  segmentName: 'Buyers',
  filter: JSON.stringify({ event: 1 }),
  viewName: 'Teapots',
  viewPage: 'overview',
  shareName: 'Teapots',
  report: [sharedReport()],
});

const erased = async (contactUUID: unknown) => {
  await scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactUUID });
};
/** Gives a new external ID to a contact, and returns it. */
const giveExternalID = async (contactUUID: string, contactExternalID = newUserUUID()) => {
  await scene.post('/contact/updateContact', { tokenUUID: scene.tokens.server, contactUUID, contactExternalID });
  return contactExternalID;
};
const claimOf = async (name: OperationName) => (await smallestInput[name](scene, 'server')).claimID;

/** A scene of a shop with an origin that lists all IDs, over its quota, whose store and reports fail when the test says so. */
const openLimited = async () => {
  let failure: Error | undefined;
  const ofReports = ['report_too_slow', 'no_reports'];
  const ofStore = () => (failure instanceof Refusal && ofReports.includes(failure.code) ? undefined : failure);
  const failing = (store: Store): Store => ({
    ...store,
    findAccess: (...given) => {
      const failed = ofStore();
      return failed ? Promise.reject(failed) : store.findAccess(...given);
    },
  });
  const limited = await openScene({
    account: {
      accountOrigin: ['https://shop.example'],
      strict: true,
      event: [{ eventID: 1 }],
      profile: [{ profileID: 'customer' }, { profileID: 'staff', browser: false }],
      attr: [{ attrID: 'margin', browser: false }],
    },
    wrap: failing,
    reports: createFakeReports(() => (failure ? Promise.reject(failure) : Promise.resolve(undefined))),
  });
  return {
    limited,
    failWith: (error: Error | undefined) => {
      failure = error;
    },
  };
};

describe('each error code that is listed', () => {
  let limited: Scene;
  let failWith: (error: Error | undefined) => void;
  let full: Scene;
  let patient: Scene;
  beforeAll(async () => {
    ({ limited, failWith } = await openLimited());
    full = await openScene({ quota: { accountBytes: 1, isOver: () => true } });
    patient = await openScene({ rateLimits: { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 1 } } });
    await patient.get('/account/getAccount', { tokenUUID: unheardOf });
  });
  afterAll(() => Promise.all([limited, full, patient].map(({ close }) => close())));

  const nobody = 'there-is-nobody-here';
  const unheardOf = 'server_thereisnosuchtokenhere';
  const wrongKind = ({ operation }: Item) =>
    scene.tokens[
      (['browser', 'viewer', 'server', 'operator'] as const).find((kind) => !operation.tokens.includes(kind)) ??
        'revoked'
    ];

  const provoke: { readonly [Code in ErrorCode]?: Provoke } = {
    missing_field: ({ operation }) =>
      operation.tokens.includes('operator') && operation.tokens.length > 1
        ? { token: scene.tokens.operator, without: ['accountUUID'] }
        : 'attrValue' in (operation.input as Any).shape
          ? { fields: { attrValue: 'x' } }
          : 'filter' in (operation.input as Any).shape
            ? { fields: { filter: JSON.stringify({ contact: { attrValue: 'x' } }) } }
            : { without: Object.keys((operation.input as Any).shape) },
    invalid_field: (one) =>
      one.method === 'POST'
        ? { fields: { tokenUUID: { not: 'text' } } }
        : {
            fields: onlyOf(one, {
              accountUUID: 'x'.repeat(300),
              cursor: 'x'.repeat(300),
              eventID: '?',
              from: '?',
              limit: '?',
            }),
          },
    invalid_encoding: () => ({ query: 'text=%FF' }),
    invalid_json: () => ({ body: '{' }),
    unknown_field: () => ({ fields: { contactPhone: 'x' } }),
    unknown_id: async ({ name }) => {
      const contact = enough();
      await limited.post('/createContact', { tokenUUID: limited.tokens.server, ...contact });
      const { contactEmailaddress } = contact;
      const unlisted = { contactEmailaddress, contactProfileID: 'unheard-of' };
      return { in: limited, fields: name === 'logEvent' ? { eventID: 77 } : unlisted };
    },
    missing_token: () => ({ token: undefined }),
    invalid_token: () => ({ token: scene.tokens.revoked }),
    token_kind: (one) => ({ token: wrongKind(one) }),
    id_not_for_browser: ({ name }) => ({
      in: limited,
      token: limited.tokens.browser,
      fields:
        name === 'createContact'
          ? { contactProfileID: 'staff' }
          : { eventAttrArray: [{ attrID: 'margin', attrValue: 'x' }] },
    }),
    origin_not_allowed: () => ({
      in: limited,
      token: limited.tokens.browser,
      headers: { Origin: 'https://elsewhere.example' },
    }),
    server_token_in_browser: () => ({ headers: { Origin: 'https://shop.example' } }),
    unknown_account: () => ({ fields: { accountUUID: nobody } }),
    unknown_contact: ({ name }) => ({
      fields: name === 'unmergeContact' ? { otherContactUUID: nobody } : { contactUUID: nobody },
    }),
    unknown_user: () => ({ fields: { userUUID: nobody } }),
    unknown_link: () => ({ fields: { linkID: '999999' } }),
    unknown_claim: () => ({ fields: { claimID: nobody } }),
    unknown_refused: () => ({ fields: { refusedID: '999999' } }),
    unknown_member: () => ({ fields: { memberID: nobody } }),
    unknown_entry: ({ name }) => ({ fields: name === 'mergeEntry' ? { entryID: nobody } : { otherEntryID: nobody } }),
    unknown_view: () => ({ fields: { viewName: nobody } }),
    unknown_share_link: () => ({ fields: { shareID: nobody } }),
    unknown_segment: ({ name }) => {
      if (name === 'createShareLink') return { fields: { report: [sharedReport({ segment: nobody })] } };
      return {
        fields: name === 'deleteSegment' ? { segmentName: nobody } : { filter: JSON.stringify({ segment: nobody }) },
      };
    },
    unknown_token: ({ name }) => ({ fields: { tokenID: nobody }, without: name === 'voidLink' ? ['linkID'] : [] }),
    email_taken: async ({ name }) => {
      const { contactUUID, contactEmailaddress } = await makeContact(scene);
      if (name !== 'createContact') return { fields: { contactEmailaddress } };
      await giveExternalID(contactUUID);
      const other = await giveExternalID((await makeContact(scene)).contactUUID);
      return { fields: { contactEmailaddress, contactExternalID: other } };
    },
    external_id_taken: async ({ name }) => {
      if (name === 'createContact') {
        const { contactUUID, contactEmailaddress } = await makeContact(scene);
        await giveExternalID(contactUUID);
        return { fields: { contactEmailaddress, contactExternalID: 'customer-of-nobody' } };
      }
      if (name === 'updateContact') {
        const contactExternalID = await giveExternalID((await makeContact(scene)).contactUUID);
        return { fields: { contactExternalID } };
      }
      const contactExternalID = newUserUUID();
      const claimed = { userUUID: newUserUUID(), contactEmailaddress: newAddress(), contactProfileID: 'customer' };
      const claim = await scene.post('/createContact', {
        tokenUUID: scene.tokens.browser,
        ...claimed,
        contactExternalID,
      });
      const claimID = claim.body.contactUUID;
      const mark = { tokenUUID: scene.tokens.server, claimID };
      if (name === 'voidClaim') {
        await scene.post('/contact/acceptClaim', mark);
        await scene.post('/contact/voidClaim', mark);
      }
      await giveExternalID((await makeContact(scene)).contactUUID, contactExternalID);
      return { fields: { claimID, ...(name === 'voidClaim' && { restore: true }) } };
    },
    merge_refused: async ({ name }) => {
      if (name === 'mergeEntry') return { fields: { entryID: 'plan', otherEntryID: 'plan' } };
      if (name === 'unmergeEntry') return { fields: { otherEntryID: 'plan' } };
      const { contactUUID } = await makeContact(scene);
      return {
        fields:
          name === 'mergeContact' ? { contactUUID, otherContactUUID: contactUUID } : { otherContactUUID: contactUUID },
      };
    },
    id_in_use: async () => {
      await makeContact(scene);
      return { fields: { profile: [{ profileID: 'customer', remove: true }] } };
    },
    erased_contact: async ({ name }) => {
      const { contactUUID, userUUID } = await makeContact(scene);
      if (name === 'voidLink') {
        const link = await scene.post('/contact/linkUser', {
          tokenUUID: scene.tokens.server,
          userUUID: newUserUUID(),
          contactUUID,
        });
        await erased(contactUUID);
        return { fields: { linkID: link.body.linkID } };
      }
      if (name === 'acceptClaim' || name === 'voidClaim') {
        const claimID = await claimOf(name);
        const voided = await scene.post('/contact/voidClaim', { tokenUUID: scene.tokens.server, claimID });
        await erased(voided.body.contactUUID);
        return { fields: { claimID } };
      }
      if (name === 'createContact') {
        const fields = {
          userUUID,
          contactEmailaddress: newAddress(),
          contactProfileID: 'customer',
          requestUUID: `request-${userUUID}`,
        };
        const made = await scene.post('/createContact', { tokenUUID: scene.tokens.server, ...fields });
        await erased(made.body.contactUUID);
        return { fields };
      }
      await erased(contactUUID);
      return { fields: name === 'unmergeContact' ? { otherContactUUID: contactUUID } : { contactUUID } };
    },
    body_too_large: () => ({ body: JSON.stringify({ text: 'x'.repeat(1024 * 1024) }) }),
    url_too_long: () => ({ query: `text=${'x'.repeat(9_000)}` }),
    unsupported_media_type: () => ({ body: '<x/>', headers: { 'Content-Type': 'application/xml' } }),
    too_many_requests: () => ({ in: patient, token: `${unheardOf}too` }),
    quota: () => ({ in: full, token: full.tokens.server }),
    internal: () => {
      failWith(new Error('a fault of a test'));
      return { in: limited };
    },
    report_too_slow: () => {
      failWith(new Refusal('report_too_slow'));
      return { in: limited };
    },
    no_reports: () => {
      failWith(new Refusal('no_reports'));
      return { in: limited };
    },
    unavailable: () => {
      failWith(new Refusal('unavailable', { retryAfterSeconds: 1 }));
      return { in: limited };
    },
  };

  const listed = items.flatMap((one) => {
    const { operation, method, path } = one;
    const isFirst = path === operation.paths[0];
    return isFirst ? codesOf(operation, method).map((code) => ({ code, one, operationId: one.item.operationId })) : [];
  });

  it.each(listed)('$code of $operationId is answered in the form of the document', async ({ code, one }) => {
    const { name, operation, method, path } = one;
    onTestFinished(() => failWith(undefined));
    // The server remembers for one turn of the event loop which tokens it has found.
    await nextTurn();
    const attempt: Attempt = (await provoke[code]?.(one)) ?? {};
    const place = attempt.in ?? scene;
    const token = 'token' in attempt ? attempt.token : place.tokens[kindFor(operation)];
    const acceptable = attempt.in
      ? onlyOf(one, name === 'reportPeople' ? { from } : enough())
      : await smallestInput[name](scene, kindFor(operation));
    const given: Record<string, unknown> = { ...acceptable, ...attempt.fields };
    for (const field of attempt.without ?? []) delete given[field];
    const headers = { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...attempt.headers };
    const query = attempt.query ? `?${attempt.query}` : '';
    const response =
      method === 'GET'
        ? await place.app.request(`${path}${query || `?${new URLSearchParams(asText(given))}`}`, { headers })
        : await place.app.request(`${path}${query}`, {
            method,
            headers: { 'Content-Type': 'application/json', ...headers },
            body: attempt.body ?? JSON.stringify(given),
          });
    const body: Any = await response.json();
    expect([response.status, body.error?.code]).toEqual([errors[code].status, code]);
    expect(problemsOf(placeOf(one, response.status), body)).toEqual([]);
  });
});
