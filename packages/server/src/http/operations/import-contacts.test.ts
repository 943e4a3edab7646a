import { createHash } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Fields, openScene, type Scene } from '../../../test/fixtures/scene.ts';

let scene: Scene;
let other: Scene;
beforeAll(async () => {
  [scene, other] = await Promise.all([openScene(), openScene()]);
});
afterAll(() => Promise.all([scene.close(), other.close()]));

const post = (path: string, fields: Fields, tokenUUID = scene.tokens.server) =>
  scene.post(path, { tokenUUID, ...fields });
const createImport = async (file: string, kind = 'contacts'): Promise<string> => {
  const fingerprint = createHash('sha256').update(file).digest('hex');
  return (await post('/import/createImport', { kind, importName: file, fingerprint })).body.importID;
};
const problemOf = async (fields: Fields, tokenUUID?: string) => {
  const { status, body } = await post('/import/importContacts', fields, tokenUUID);
  return [status, body.error?.code, body.error?.field];
};
const read = async (contactEmailaddress: string) => {
  const { status, body } = await scene.get('/contact/getContact', {
    tokenUUID: scene.tokens.server,
    contactEmailaddress,
  });
  return { status, ...body.contact };
};
const missing = { status: 404 };

it('creates contacts with the request’s profile, changes others, and refuses some with the reason', async () => {
  const importID = await createImport('a.csv');
  const contact = [
    { contactEmailaddress: 'ann@shop.example', contactFirstname: 'Ann', contactTagID: 'vip,beta' },
    { contactEmailaddress: 'ann@shop.example', contactJobRole: 'Painter', contactStatus: 'unsubscribed' },
    { contactEmailaddress: 'not an address' },
    { contactFirstname: 'Nobody' },
    { contactEmailaddress: 'ben@shop.example', contactProfileID: 'staff', contactFirstname: 'x'.repeat(256) },
    'a text',
    { contactEmailaddress: 'ann@shop.example', contactFirstname: 'Ann' },
  ];
  const { body } = await post('/import/importContacts', {
    ...{ importID, position: 0, contact, contactProfileID: 'customer', isLast: true },
  });
  expect(body).toMatchObject({ position: 7, created: 1, changed: 1, unchanged: 1, refused: 4, status: '200' });
  expect(body.refusal.map(({ index, error }: Fields) => [index, (error as Fields).field])).toEqual([
    [2, 'contactEmailaddress'],
    [3, 'contactEmailaddress'],
    [4, 'contactFirstname'],
    [5, undefined],
  ]);
  expect(await read('ann@shop.example')).toMatchObject({
    contactFirstname: 'Ann',
    contactJobRole: 'Painter',
    contactProfileID: 'customer',
    contactStatus: 'unsubscribed',
  });
  expect(await problemOf({ importID, position: 7, contact: [] })).toEqual([400, 'invalid_field', 'position']);
});

it('stores nothing in a dry run, or at another position', async () => {
  const contact = [{ contactEmailaddress: 'dry@shop.example' }];
  const { body } = await post('/import/importContacts', { contact, dryRun: true });
  expect(body).toMatchObject({ created: 1, changed: 0, refused: 0 });
  const importID = await createImport('dry.csv');
  const early = await post('/import/importContacts', { importID, position: 3, contact });
  expect(early.body).toMatchObject({ position: 0, created: 0 });
  expect(await read('dry@shop.example')).toEqual(missing);
  await post('/import/importContacts', { importID, position: 0, contact });
  expect(await read('dry@shop.example')).toMatchObject({ status: 200 });
});

it('refuses other tokens, other accounts, other imports and requests that are too large', async () => {
  const importID = await createImport('hostile.csv');
  const fields = { importID, position: 0, contact: [{ contactEmailaddress: 'evil@shop.example' }] };
  expect(await problemOf(fields, scene.tokens.browser)).toEqual([403, 'token_kind', undefined]);
  expect(await problemOf(fields, scene.tokens.viewer)).toEqual([403, 'token_kind', undefined]);
  expect(await problemOf({ ...fields, dryRun: true }, scene.tokens.viewer)).toEqual([403, 'token_kind', undefined]);
  const foreign = await other.post('/import/importContacts', { tokenUUID: other.tokens.server, ...fields });
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'unknown_import']);
  expect(await problemOf({ ...fields, importID: await createImport('events.jsonl', 'events') })).toEqual([
    400,
    'invalid_field',
    'importID',
  ]);
  const many = Array.from({ length: limits.contactsPerBatch + 1 }, () => ({}));
  expect(await problemOf({ ...fields, contact: many })).toEqual([400, 'invalid_field', 'contact']);
  const large = [{ contactEmailaddress: 'evil@shop.example', contactFirstname: 'x'.repeat(limits.batchBodyBytes) }];
  expect((await problemOf({ ...fields, contact: large }))[0]).toBe(413);
  expect(await problemOf({ position: 0, contact: [] })).toEqual([400, 'missing_field', 'importID']);
  expect(await read('evil@shop.example')).toEqual(missing);
  await post('/import/importContacts', fields);
  expect(await read('evil@shop.example')).toMatchObject({ status: 200 });
});

it('shows in exportContact what it changed about a contact', async () => {
  const contactEmailaddress = 'eve@shop.example';
  const exportEve = async () => (await post('/contact/exportContact', { contactEmailaddress })).body.import;
  const [first, second] = [await createImport('first.csv'), await createImport('second.csv')];
  const known = { contactEmailaddress, contactFirstname: 'Eve', contactTagID: 'vip' };
  await post('/import/importContacts', { importID: first, position: 0, contact: [known] });
  const contactAttr = [{ attrID: 'plan', attrValue: 'pro' }];
  const changed = { contactEmailaddress, contactFirstname: 'Eva', contactTagID: 'vip,new', contactAttr };
  await post('/import/importContacts', { importID: second, position: 0, contact: [changed] });
  const imports = (await exportEve()).sort((a: Fields, b: Fields) => Number(b.created) - Number(a.created));
  const importedTime = expect.stringMatching(/Z$/);
  expect(imports).toEqual([
    { importID: first, importName: 'first.csv', importedTime, created: true, change: [] },
    {
      ...{ importID: second, importName: 'second.csv', importedTime, created: false },
      change: expect.arrayContaining([
        { field: 'contactFirstname', before: 'Eve', after: 'Eva' },
        { field: 'contactTagID.new', before: null, after: 'true' },
        { field: 'contactAttr.plan', before: null, after: 'pro' },
      ]),
    },
  ]);
  expect(imports[1].change).toHaveLength(3);
});
