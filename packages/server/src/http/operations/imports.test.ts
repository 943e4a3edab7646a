import { createHash } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Fields, openScene, type Scene } from '../../../test/fixtures/scene.ts';

let scene: Scene;
let other: Scene;
beforeAll(async () => {
  [scene, other] = await Promise.all([openScene(), openScene()]);
});
afterAll(() => Promise.all([scene.close(), other.close()]));

const post = (path: string, fields: Fields, tokenUUID = scene.tokens.server) =>
  scene.post(path, { tokenUUID, ...fields });
const createImport = async (importName: string): Promise<string> => {
  const fingerprint = createHash('sha256').update(importName).digest('hex');
  return (await post('/import/createImport', { kind: 'events', importName, fingerprint })).body.importID;
};
const problemOf = async (fields: Fields, tokenUUID?: string, path = '/import/importEvents') => {
  const { status, body } = await post(path, fields, tokenUUID);
  return [status, body.error?.code, body.error?.field];
};
const message = (fields: Fields = {}) => ({
  ...{ type: 'track', event: 'Bought', anonymousId: 'visitor-of-imports', timestamp: '2024-03-01T09:00:00Z' },
  ...fields,
});
const read = async (userUUID = 'visitor-of-imports') =>
  (await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, userUUID })).body.event as Fields[];

describe('importEvents', () => {
  it('stores labels from another tool, but only values that this server could assign', async () => {
    const importID = await createImport('labels.jsonl');
    const context = { labels: { browser: 'Firefox', os: 'My own system', device: 'phone', country: 'XYZ' } };
    await post('/import/importEvents', {
      ...{ importID, position: 0, isLast: true },
      message: [message({ context, anonymousId: 'visitor-with-labels' })],
    });
    const [event] = await read('visitor-with-labels');
    expect(event?.eventAttrArray).toEqual([
      { attrID: '$browser', attrValue: 'Firefox' },
      { attrID: '$device', attrValue: 'phone' },
    ]);
  });

  it('creates the contact in an identify message, and assigns the browser’s events to it', async () => {
    const importID = await createImport('identify.jsonl');
    const { body } = await post('/import/importEvents', {
      ...{ importID, position: 0, isLast: true },
      message: [
        message({ anonymousId: 'visitor-who-signs-in' }),
        message({ type: 'identify', anonymousId: 'visitor-who-signs-in', userId: 'customer-of-imports' }),
      ],
    });
    expect(body).toMatchObject({ imported: 2, refused: 0 });
    const { contact } = (
      await scene.get('/contact/getContact', {
        tokenUUID: scene.tokens.server,
        contactExternalID: 'customer-of-imports',
      })
    ).body;
    expect((await read('visitor-who-signs-in')).map(({ contactUUID }) => contactUUID)).toEqual([contact.contactUUID]);
  });

  it('assigns events to the contact with the address, if the account’s user IDs are addresses', async () => {
    const { tokens } = other;
    const call = (path: string, fields: Fields) => other.post(path, { tokenUUID: tokens.server, ...fields });
    await call('/account/updateAccount', { userIDIsEmailaddress: true });
    const known = {
      contactEmailaddress: 'ann@shop.example',
      contactProfileID: 'c',
      userUUID: 'visitor-with-an-address',
    };
    const { contactUUID } = (await call('/contact/createContact', known)).body;
    const created = { kind: 'events', importName: 'addresses.jsonl', fingerprint: 'a'.repeat(64) };
    const { importID } = (await call('/import/createImport', created)).body;
    const of = (userId: string) => message({ anonymousId: undefined, userId });
    const sent = [of('Ann@Shop.Example'), of('new@shop.example'), of('new@shop.example'), of('no address')];
    const { body } = await call('/import/importEvents', { importID, position: 0, message: sent });
    expect(body).toMatchObject({ imported: 3, refused: 1, refusal: [{ index: 3, error: { field: 'userId' } }] });
    const find = async (contactEmailaddress: string) =>
      (await other.get('/contact/getContact', { tokenUUID: tokens.server, contactEmailaddress })).body.contact;
    const { body: read } = await other.get('/event/getEvent', { tokenUUID: tokens.server, order: 'asc' });
    const { contactUUID: newUUID } = await find('new@shop.example');
    expect(read.event.map((event: Fields) => event.contactUUID)).toEqual([contactUUID, newUUID, newUUID]);
    const undo = () => call('/import/undoImport', { importID });
    await expect.poll(async () => (await undo()).body.state).toBe('undone');
    expect([await find('new@shop.example'), (await find('ann@shop.example')).contactUUID]).toEqual([
      undefined,
      contactUUID,
    ]);
  });

  it('stores nothing for tokens of other kinds, for other accounts, and at other positions', async () => {
    const importID = await createImport('hostile.jsonl');
    const fields = { importID, position: 0, message: [message({ anonymousId: 'visitor-of-hostile-files' })] };
    for (const token of [scene.tokens.browser, scene.tokens.viewer, scene.tokens.editor]) {
      expect(await problemOf(fields, token)).toEqual([403, 'token_kind', undefined]);
      expect(await problemOf({ ...fields, dryRun: true }, token)).toEqual([403, 'token_kind', undefined]);
      const created = { kind: 'events', importName: 'a.jsonl', fingerprint: 'b'.repeat(64) };
      expect((await problemOf(created, token, '/import/createImport')).slice(0, 2)).toEqual([403, 'token_kind']);
      expect(await problemOf({ importID }, token, '/import/undoImport')).toEqual(
        expect.arrayContaining([403, 'token_kind']),
      );
    }
    const response = await other.post('/import/importEvents', { tokenUUID: other.tokens.server, ...fields });
    expect(response.body.error?.code).toBe('unknown_import');
    const undo = await other.post('/import/undoImport', { tokenUUID: other.tokens.server, importID });
    expect(undo.body.error?.code).toBe('unknown_import');
    const { body } = await post('/import/importEvents', { ...fields, position: 7 });
    expect(body).toMatchObject({ position: 0, imported: 0 });
    expect(await read('visitor-of-hostile-files')).toEqual([]);
  });

  it('refuses more messages than a batch can have, and each message that is not an event', async () => {
    const importID = await createImport('large.jsonl');
    const tooMany = Array.from({ length: limits.messagesPerImport + 1 }, () => message());
    expect(await problemOf({ importID, position: 0, message: tooMany })).toEqual([400, 'invalid_field', 'message']);
    const sent = [null, 'a text', [], {}, message({ timestamp: undefined }), message({ timestamp: '9999-01-01' })];
    const { body } = await post('/import/importEvents', { importID, position: 0, message: sent });
    expect(body).toMatchObject({ position: sent.length, imported: 0, refused: sent.length });
    expect(body.refusal.map(({ error }: { error: Fields }) => error.field).slice(-2)).toEqual([
      ...['timestamp', 'timestamp'],
    ]);
  });
});

describe('listImports', () => {
  it('returns every import once, page by page, even if some were created at the same time', async () => {
    const { tokens, get, post: send, close } = await openScene();
    onTestFinished(close);
    const created: string[] = [];
    for (const file of ['a', 'b', 'c', 'd', 'e']) {
      const fingerprint = createHash('sha256').update(file).digest('hex');
      const entry = { tokenUUID: tokens.server, kind: 'events', importName: file, fingerprint };
      created.push((await send('/import/createImport', entry)).body.importID);
    }
    for (const limit of [1, 2, 5]) {
      const listed: string[] = [];
      let page: Fields = { tokenUUID: tokens.server, limit };
      do {
        const { body } = await get('/import/listImports', page);
        listed.push(...body.import.map(({ importID }: Fields) => importID));
        page = { ...page, cursor: body.nextCursor };
      } while (page.cursor !== '');
      expect(listed.sort()).toEqual([...created].sort());
    }
    const { body } = await get('/import/listImports', { tokenUUID: tokens.server, cursor: 'hello' });
    expect(body.error).toMatchObject({ code: 'invalid_field', field: 'cursor' });
  });
});

describe('refusals by importEvents', () => {
  it('list every refused message, with the name of its field in the message', async () => {
    const sent = Array.from({ length: 30 }, () => message({ timestamp: 'yesterday' }));
    const { body } = await post('/import/importEvents', { dryRun: true, message: sent });
    const text = expect.stringMatching(/^`timestamp` must be a time/);
    const error = { code: 'invalid_field', field: 'timestamp', message: text };
    expect(body.refusal).toEqual(sent.map((_, index) => ({ index, error })));
  });
});

describe('undoImport', () => {
  it('refuses later batches of the import', async () => {
    const importID = await createImport('undone.jsonl');
    await post('/import/importEvents', { importID, position: 0, message: [message()] });
    for (let state = ''; state !== 'undone'; )
      ({ state } = (await post('/import/undoImport', { importID })).body as { state: string });
    expect(await read()).toEqual([]);
    expect((await problemOf({ importID, position: 1, message: [message()] }))[1]).toBe('import_undone');
  });
});
