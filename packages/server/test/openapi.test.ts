/**
 * Sends each example in the OpenAPI document, triggers each error code, and validates the responses against the
 * schemas.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { listErrorCodes } from '@firsthand/contract/document/operation-errors';
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
import { type Fields, noRateLimits, openScene, type Scene, toStrings } from './fixtures/scene.ts';

// biome-ignore lint/suspicious/noExplicitAny: the code walks an untyped document.
type Any = any;

const document: Any = openAPI({ server: '/' });
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi');

const pointer = (...steps: string[]) => steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
const validators = new Map<string, ValidateFunction>();
/** Returns how a value violates the schema at this place in the document; [] for a valid value. */
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

/** The JSON pointer to a response's schema. */
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

/** Returns a stream's first message. */
const readStream = async (response: Response): Promise<unknown> => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!/^data: .*\n/m.test(text)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
};

describe('the OpenAPI document’s examples', () => {
  /**
   * The fields that must refer to existing objects, because the objects in the document's examples don't exist on this
   * server.
   */
  const referenceFields = [
    'contactUUID',
    'otherContactUUID',
    'linkID',
    'claimID',
    'tokenID',
    'memberID',
    'shareID',
    'refusedID',
    'handover',
    'importID',
    'webhookID',
    'goalID',
    'noteID',
    'notificationID',
  ];
  const operationReference: { readonly [Name in OperationName]?: string } = {
    unlinkUser: 'userUUID',
    deleteSegment: 'segmentName',
    deleteView: 'viewName',
  };

  /** Returns a request's example, with references to existing objects. */
  const exampleOf = async ({ name, operation, method, item }: Item): Promise<Fields> => {
    const parameters = (item.parameters ?? []).flatMap(({ name, content, ...rest }: Any) => {
      const parameter = content?.['application/json'] ?? rest;
      return 'example' in parameter ? [[name, parameter.example]] : [];
    });
    const example: Record<string, unknown> =
      method === 'POST' ? item.requestBody.content['application/json'].example : Object.fromEntries(parameters);
    const existing = await smallestInput[name](scene, kindFor(operation));
    const isReference = (field: string) => referenceFields.includes(field) || operationReference[name] === field;
    return Object.fromEntries(
      Object.entries(example).map(([field, value]) => [field, isReference(field) ? existing[field] : value]),
    );
  };

  /** Encodes fields as the document specifies for a query string. */
  const queryOf = ({ item }: Item, fields: Fields) =>
    new URLSearchParams(
      Object.entries(fields).map(([field, value]): [string, string] => {
        const { explode, content } = item.parameters.find(({ name }: Any) => name === field) ?? {};
        if (content) return [field, JSON.stringify(value)];
        return [field, Array.isArray(value) && explode === false ? value.join(',') : String(value)];
      }),
    );

  it.each(items)(
    'include an accepted request for $item.operationId, whose response matches its schema',
    async (one) => {
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
          expect(entry?.error, 'every entry of a list is accepted').toBeUndefined();
        }
      } else {
        if (operation.stream) await scene.post('/logEvent', { tokenUUID: scene.tokens.server, ...fields, eventID: 1 });
        const cursor = operation.stream ? { cursor: Buffer.from('e1.0').toString('base64url') } : {};
        const response = await scene.app.request(`${path}?${queryOf(one, { ...fields, ...cursor })}`, { headers });
        expect(response.status).toBe(200);
        const body = operation.stream ? await readStream(response) : await response.json();
        expect(problemsOf(placeOf(one, 200), body)).toEqual([]);
      }
    },
  );

  it.each(items.filter(({ operation }) => !operation.stream))(
    'include responses of $item.operationId that match their schemas',
    (one) => {
      for (const status of Object.keys(one.item.responses).map(Number)) {
        const { $ref, ...inline } = one.item.responses[status];
        const { content } = $ref ? document.components.responses[$ref.split('/').at(-1)] : inline;
        expect(problemsOf(placeOf(one, status), content['application/json'].example)).toEqual([]);
      }
    },
  );
});

/** How an invalid request differs from a valid one. */
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

/** Removes the fields that the operation does not have. */
const pickFields = ({ operation }: Item, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => field in (operation.input as Any).shape));

const from = '2026-11-01';
const sharedReport = (filter?: Fields, goalID?: string) => ({
  part: 'totals',
  operation: 'reportTotals',
  request: { from, to: '2026-12-01', filter, goalID },
});
/** Returns fields that suffice for a request in another scene. reportPeople accepts only one of `by` and `step`. */
const validFields = (): Fields => ({
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

const eraseContact = async (contactUUID: unknown) => {
  await scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactUUID });
};
/** Gives a contact a new external ID, and returns the ID. */
const giveExternalID = async (contactUUID: string, contactExternalID = newUserUUID()) => {
  await scene.post('/contact/updateContact', { tokenUUID: scene.tokens.server, contactUUID, contactExternalID });
  return contactExternalID;
};
const claimOf = async (name: OperationName) => (await smallestInput[name](scene, 'server')).claimID;

/**
 * Opens a strict account with an allowed origin. Its store and reports fail with the error that is passed to
 * `failWith`.
 */
const openLimited = async () => {
  let failure: Error | undefined;
  const reportCodes = ['report_too_slow', 'no_reports'];
  const storeFailure = () => (failure instanceof Refusal && reportCodes.includes(failure.code) ? undefined : failure);
  const failing = (store: Store): Store => ({
    ...store,
    findAccess: (...input) => {
      const failed = storeFailure();
      return failed ? Promise.reject(failed) : store.findAccess(...input);
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
  const buyers = { segmentName: 'Buyers', filter: { event: 1 } };
  await limited.post('/report/createSegment', { tokenUUID: limited.tokens.server, ...buyers });
  return {
    limited,
    failWith: (error: Error | undefined) => {
      failure = error;
    },
  };
};

describe('error responses', () => {
  let limited: Scene;
  let failWith: (error: Error | undefined) => void;
  let full: Scene;
  let throttled: Scene;
  let mute: Scene;
  beforeAll(async () => {
    ({ limited, failWith } = await openLimited());
    mute = await openScene({ mail: false });
    full = await openScene({ quota: { accountBytes: 1, isOver: () => true } });
    throttled = await openScene({ rateLimits: { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 1 } } });
    await throttled.get('/account/getAccount', { tokenUUID: unknownToken });
  });
  afterAll(() => Promise.all([limited, full, throttled, mute].map(({ close }) => close())));

  const unknownID = 'there-is-nobody-here';
  const unknownToken = 'server_thereisnosuchtokenhere';
  const wrongKind = ({ operation }: Item) =>
    scene.tokens[
      (['browser', 'viewer', 'server', 'operator'] as const).find((kind) => !operation.tokens.includes(kind)) ??
        'revoked'
    ];

  /** A filter that makes searchContact run a report. */
  const inSegment = {
    fields: { segment: 'Buyers' },
    without: ['contactExternalID', 'contactEmailaddress', 'sort', 'order'],
  };

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
            fields: pickFields(one, {
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
      const contact = validFields();
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
    unknown_account: () => ({ fields: { accountUUID: unknownID } }),
    unknown_contact: ({ name }) => ({
      fields: name === 'unmergeContact' ? { otherContactUUID: unknownID } : { contactUUID: unknownID },
    }),
    unknown_user: () => ({ fields: { userUUID: unknownID } }),
    unknown_link: () => ({ fields: { linkID: '999999' } }),
    unknown_claim: () => ({ fields: { claimID: unknownID } }),
    unknown_refused: () => ({ fields: { refusedID: '999999' } }),
    unknown_member: ({ name }) => ({
      fields: name.endsWith('Notification') ? { recipient: [unknownID] } : { memberID: unknownID },
    }),
    unknown_entry: ({ name }) => ({
      fields: name === 'mergeEntry' ? { entryID: unknownID } : { otherEntryID: unknownID },
    }),
    unknown_webhook: ({ name }) => ({
      fields: { webhookID: unknownID, ...(name === 'resendWebhook' && { sequence: 1 }) },
    }),
    unknown_notification: () => ({ fields: { notificationID: unknownID } }),
    unknown_import: () => ({ fields: { importID: unknownID } }),
    no_mail: async ({ name }) => {
      const fields = await smallestInput[name](scene, 'server');
      return { in: mute, token: mute.tokens.server, fields: { ...fields, recipient: [unknownID] } };
    },
    import_undone: async () => {
      const { importID } = await smallestInput.undoImport(scene, 'server');
      await scene.post('/import/undoImport', { tokenUUID: scene.tokens.server, importID });
      return { fields: { importID } };
    },
    unknown_goal: ({ name }) => ({
      fields: name === 'createShareLink' ? { report: [sharedReport(undefined, unknownID)] } : { goalID: unknownID },
    }),
    unknown_note: () => ({ fields: { noteID: unknownID } }),
    unknown_view: () => ({ fields: { viewName: unknownID } }),
    unknown_share_link: () => ({ fields: { shareID: unknownID } }),
    unknown_segment: ({ name }) => {
      if (name === 'createShareLink') return { fields: { report: [sharedReport({ segment: unknownID })] } };
      if (name === 'searchContact') return { fields: { segment: unknownID } };
      if (name.endsWith('Webhook')) return { fields: { type: ['segment.left'], segmentName: [unknownID] } };
      if (name === 'createNotification') {
        const report = { title: 'Pages', operation: 'reportTotals', request: { filter: { segment: unknownID } } };
        return { fields: { kind: 'digest', every: 'week', report: [report] }, without: ['hours'] };
      }
      return {
        fields:
          name === 'deleteSegment' ? { segmentName: unknownID } : { filter: JSON.stringify({ segment: unknownID }) },
      };
    },
    unknown_token: ({ name }) => ({ fields: { tokenID: unknownID }, without: name === 'voidLink' ? ['linkID'] : [] }),
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
        await eraseContact(contactUUID);
        return { fields: { linkID: link.body.linkID } };
      }
      if (name === 'acceptClaim' || name === 'voidClaim') {
        const claimID = await claimOf(name);
        const voided = await scene.post('/contact/voidClaim', { tokenUUID: scene.tokens.server, claimID });
        await eraseContact(voided.body.contactUUID);
        return { fields: { claimID } };
      }
      if (name === 'createContact') {
        const fields = {
          userUUID,
          contactEmailaddress: newAddress(),
          contactProfileID: 'customer',
          requestUUID: `request-${userUUID}`,
        };
        const created = await scene.post('/createContact', { tokenUUID: scene.tokens.server, ...fields });
        await eraseContact(created.body.contactUUID);
        return { fields };
      }
      await eraseContact(contactUUID);
      return { fields: name === 'unmergeContact' ? { otherContactUUID: contactUUID } : { contactUUID } };
    },
    body_too_large: () => ({ body: JSON.stringify({ text: 'x'.repeat(1024 * 1024) }) }),
    url_too_long: () => ({ query: `text=${'x'.repeat(9_000)}` }),
    unsupported_media_type: () => ({ body: '<x/>', headers: { 'Content-Type': 'application/xml' } }),
    too_many_requests: () => ({ in: throttled, token: `${unknownToken}too` }),
    quota: () => ({ in: full, token: full.tokens.server }),
    internal: () => {
      failWith(new Error('a fault of a test'));
      return { in: limited };
    },
    report_too_slow: ({ name }) => {
      failWith(new Refusal('report_too_slow'));
      return { in: limited, ...(name === 'searchContact' && inSegment) };
    },
    no_reports: ({ name }) => {
      failWith(new Refusal('no_reports'));
      return { in: limited, ...(name === 'searchContact' && inSegment) };
    },
    unavailable: () => {
      failWith(new Refusal('unavailable', { retryAfterSeconds: 1 }));
      return { in: limited };
    },
  };

  const cases = items.flatMap((one) => {
    const { operation, method, path } = one;
    const isFirst = path === operation.paths[0];
    return isFirst
      ? listErrorCodes(operation, method).map((code) => ({ code, one, operationId: one.item.operationId }))
      : [];
  });

  it.each(cases)('match the document for $code of $operationId', async ({ code, one }) => {
    const { name, operation, method, path } = one;
    onTestFinished(() => failWith(undefined));
    // Waits, because the server caches token lookups for one turn of the event loop.
    await nextTurn();
    const attempt: Attempt = (await provoke[code]?.(one)) ?? {};
    const place = attempt.in ?? scene;
    const token = 'token' in attempt ? attempt.token : place.tokens[kindFor(operation)];
    const acceptable = attempt.in
      ? pickFields(one, name === 'reportPeople' ? { from } : validFields())
      : await smallestInput[name](scene, kindFor(operation));
    const input: Record<string, unknown> = { ...acceptable, ...attempt.fields };
    for (const field of attempt.without ?? []) delete input[field];
    const headers = { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...attempt.headers };
    const query = attempt.query ? `?${attempt.query}` : '';
    const response =
      method === 'GET'
        ? await place.app.request(`${path}${query || `?${new URLSearchParams(toStrings(input))}`}`, { headers })
        : await place.app.request(`${path}${query}`, {
            method,
            headers: { 'Content-Type': 'application/json', ...headers },
            body: attempt.body ?? JSON.stringify(input),
          });
    const body: Any = await response.json();
    expect([response.status, body.error?.code]).toEqual([errors[code].status, code]);
    expect(problemsOf(placeOf(one, response.status), body)).toEqual([]);
  });
});
