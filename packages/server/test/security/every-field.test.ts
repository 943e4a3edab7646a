/** Sends hostile values in each operation's fields over HTTP. */
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { smallestInput } from '../fixtures/requests.ts';
import { type Fields, openScene, type Scene, toStrings } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
  // Adds the IDs of the smallest inputs to the catalogues, because a hostile value can make the account strict.
  await scene.post('/event/logEvent', {
    tokenUUID: scene.tokens.server,
    ...(await smallestInput.logEvent(scene, 'server')),
  });
});
afterAll(() => scene.close());

const json = (body: string, path: string) =>
  scene.send(path, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });

const hostile: Record<string, string> = {
  'an object': '{"wrong":[]}',
  'a list of lists': '[[[]]]',
  'a list of nothing': '[null]',
  'an infinite number': '1e400',
  'an unsafe integer': '9007199254740993',
  'a negative number': '-1',
  'a fraction': '0.5',
  'a long number': `1${'0'.repeat(300)}`,
  'a boolean': 'true',
  'text with NUL': '"a\\u0000b_aaaaaaaaaaaaaaaa"',
  'half a surrogate pair': '"\\ud800aaaaaaaaaaaaaaaaa"',
  'text that is too long': `"${'x'.repeat(20_000)}"`,
  'many commas': `"${','.repeat(20_000)}"`,
  'text of a deeply nested list': `"${'['.repeat(20_000)}"`,
  'text of an object': '"{\\"__proto__\\":1}"',
  'text in another direction': '"\\u202e\\u0000"',
  'an invalid date': '"2026-02-31T25:61:00Z"',
  NaN: '"NaN"',
  __proto__: '"__proto__"',
  'a list of objects with __proto__': '[{"__proto__":{"attrID":"a"},"attrID":"__proto__","attrValue":"x"}]',
};

const fieldsOf = (name: OperationName): string[] =>
  Object.keys(((operations[name] as Operation).input as z.ZodObject).shape);

/** Matches a message that starts with the field's name or forms a sentence, and has no repeated word. */
const isPlainMessage = /^(?!.*\b(\w+) \1\b)(?:`[^`]+`|The|the|there) .*[^ ]$/s;

/** Excludes streamEvents, which has its own tests, because streams would have to be closed. */
const fields = operationNames
  .filter((name) => name !== 'streamEvents')
  .flatMap((name) => fieldsOf(name).map((field) => [name, field] as const));

/** Other fields that an error can refer to, because the tested field is empty or conflicts with them. */
const neighbours = ['contactUUID', 'linkID', 'userUUID', 'handover', 'eventID', 'attrID', 'to', 'interval'];

/**
 * Fields that accept any string, as in a query string, and the status for an unknown value. An entry with an operation
 * takes precedence over an entry for the field alone.
 */
const anyText: Readonly<Record<string, 200 | 404>> = {
  accountUUID: 404,
  contactUUID: 404,
  'getEvent contactExternalID': 404,
  contactExternalID: 200,
  'searchContact segment': 404,
  webhookID: 404,
  goalID: 404,
  noteID: 404,
  eventName: 200,
  text: 200,
  contactProfileID: 200,
  contactTagID: 200,
  attrID: 200,
  attrValue: 200,
};

describe('every operation’s fields', () => {
  /** Deletes what a request created, because an account has a limited number of each. */
  const deleteCreated = async ({ goalID, webhookID, notificationID }: Fields) => {
    const tokenUUID = scene.tokens.server;
    if (goalID !== undefined) await scene.post('/report/deleteGoal', { tokenUUID, goalID });
    if (webhookID !== undefined) await scene.post('/webhook/deleteWebhook', { tokenUUID, webhookID });
    if (notificationID !== undefined)
      await scene.post('/notification/deleteNotification', { tokenUUID, notificationID });
  };

  const fill = async (name: OperationName, field: string, value: string, way: 'body' | 'query') => {
    const operation: Operation = operations[name];
    const [path] = operation.paths;
    const kind = operation.tokens.includes('server') ? 'server' : 'operator';
    const needed = field === 'attrValue' ? { attrID: 'a' } : {};
    const smallest: Fields = await smallestInput[name](scene, kind);
    const input: Fields = { tokenUUID: scene.tokens[kind], ...needed, ...smallest };
    if (way === 'body') {
      const rest = JSON.stringify({ ...input, [field]: undefined });
      const response = await json(`{${JSON.stringify(field)}:${value},${rest.slice(1)}`, path);
      // Removes the member, because an account has a limited number of members.
      if (input.memberID !== undefined)
        await scene.post('/account/removeMember', { tokenUUID: scene.tokens[kind], memberID: input.memberID });
      await deleteCreated({ ...response.body, ...input });
      return response;
    }
    const text = value.startsWith('"') ? (JSON.parse(value) as string) : value;
    const query = new URLSearchParams(toStrings({ ...input, [field]: text.slice(0, 900).toWellFormed() }));
    const response = await scene.send(`${path}?${query}`, { method: operation.methods[0] });
    await deleteCreated({ ...response.body, ...input });
    return response;
  };

  const wayOf = (name: OperationName) => ((operations[name] as Operation).methods.includes('POST') ? 'body' : 'query');
  const takesText = ([name, field]: readonly [OperationName, string]) =>
    wayOf(name) === 'query' && (field in anyText || `${name} ${field}` in anyText);

  /** Fields that accept an object, such as replacement fields, or attributes by attrID. */
  const objects = ['replayRefused fix', 'logEvent eventAttrArray', 'createContact contactAttr'];
  const takesObjects = (field: readonly [OperationName, string]) => objects.includes(field.join(' '));

  it.each(fields.filter((each) => !takesText(each) && !takesObjects(each)))(
    'refuse an object, and the error refers to the field: %s %s',
    async (name, field) => {
      const response = await fill(name, field, '{"wrong":[]}', wayOf(name));
      expect([response.status, response.body.error.code]).toEqual([400, 'invalid_field']);
      expect(response.body.error.field).toMatch(new RegExp(`^${field}\\b`));
      if (wayOf(name) === 'body') expect(response.body.error.message).toMatch(/; the value is an object$|^`\w+\W/);
      expect(response.body.error.message).toMatch(isPlainMessage);
    },
  );

  it.each(fields.filter(takesText))('treat an object in the query as text: %s %s', async (name, field) => {
    const { status } = await fill(name, field, '{"wrong":[]}', 'query');
    expect(status).toBe(anyText[`${name} ${field}`] ?? anyText[field]);
  });

  it.each(fields)('accept or refuse any value without an internal error: %s %s', async (name, field) => {
    for (const [what, value] of Object.entries(hostile)) {
      for (const way of (operations[name] as Operation).methods.includes('POST')
        ? (['body', 'query'] as const)
        : (['query'] as const)) {
        const { status, body } = await fill(name, field, value, way);
        expect([what, way, status < 500]).toEqual([what, way, true]);
        if (status !== 400) continue;
        expect([what, way, body.error.message]).not.toContain('');
        if (!isPlainMessage.test(body.error.message)) expect([what, way]).toEqual(body.error.message);
        const atFault = new RegExp(`^(${[field, ...neighbours].join('|')})\\b`);
        if (body.error.field !== undefined) expect(body.error.field).toMatch(atFault);
      }
    }
  });

  it('leave Object.prototype unpolluted', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { attrID?: 1 }).attrID).toBeUndefined();
  });
});
