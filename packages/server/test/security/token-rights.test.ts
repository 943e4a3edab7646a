/** Tests that a viewer token and an editor token can do only what this file lists. */
import { operationNames } from '@firsthand/contract/operations';
import { expect, test } from 'vitest';
import { makeContact, smallestInput } from '../fixtures/requests.ts';
import { openScene, type Scene, toStrings } from '../fixtures/scene.ts';
import { report } from '../tools/report.ts';
import { operationPaths, readText } from './tools/service.ts';

const readable = [
  ...['getAccount', 'getContact', 'searchContact', 'getEvent', 'countEvents', 'streamEvents'],
  ...['reportTotals', 'reportBreakdown', 'reportFunnel', 'reportRetention', 'reportPeople', 'reportLive'],
  ...['listSegments', 'listViews', 'listGoals', 'listNotes', 'listNotifications'],
];

/** An editor's additional operations. updateAccount is tested in detail below. */
const editable = [
  ...['createContact', 'createContacts', 'updateContact', 'exportContact', 'linkUser', 'unlinkUser', 'voidLink'],
  ...['acceptClaim', 'voidClaim', 'mergeContact', 'unmergeContact', 'createSegment', 'deleteSegment', 'updateAccount'],
  ...['mergeEntry', 'unmergeEntry'],
  ...['createView', 'deleteView', 'createShareLink', 'listShareLinks', 'revokeShareLink'],
  ...['createGoal', 'updateGoal', 'deleteGoal', 'createNote', 'deleteNote'],
  ...['createNotification', 'updateNotification', 'deleteNotification'],
  ...['createImport', 'importContacts', 'listImports', 'undoImport'],
];

/** Reads an account's data with its server token. */
const readState = async ({ get, tokens, store }: Scene) => {
  const read = async (path: string) => (await get(path, { tokenUUID: tokens.server, limit: 1_000 })).body;
  const account = (await get('/account/getAccount', { tokenUUID: tokens.server })).body;
  const { contact } = await read('/contact/searchContact');
  const contacts = [];
  for (const { contactUUID } of contact) {
    const fields = { tokenUUID: tokens.server, contactUUID, include: 'claim,link' };
    contacts.push((await get('/contact/getContact', fields)).body);
  }
  const refused = await store.countRefused({});
  const { body: segments } = await get('/report/listSegments', { tokenUUID: tokens.server });
  const { body: views } = await get('/report/listViews', { tokenUUID: tokens.server });
  const { body: goals } = await get('/report/listGoals', { tokenUUID: tokens.server });
  const { body: notes } = await get('/report/listNotes', { tokenUUID: tokens.server });
  const { body: links } = await get('/report/listShareLinks', { tokenUUID: tokens.server });
  const state = [account, contacts, await read('/event/getEvent'), refused, segments, views, goals, notes, links];
  // Excludes lastUsedTime, which is written within half a minute, possibly between two calls.
  return JSON.stringify(state, (key, value) => (key === 'lastUsedTime' ? undefined : value));
};

/**
 * Calls every operation with a token. Returns the operations that responded with 200, the operations that changed
 * something, and the refusals.
 */
const callAll = async (scene: Scene, token: string) => {
  const answered = new Set<string>();
  const changed = new Set<string>();
  const refusals = new Set<string>();
  for (const { name, operation, path } of operationPaths) {
    const fields = await smallestInput[name](scene, 'server');
    const before = await readState(scene);
    for (const method of operation.methods) {
      const query = new URLSearchParams(toStrings({ tokenUUID: token, ...fields }));
      const response =
        method === 'GET'
          ? await scene.app.request(`${path}?${query}`)
          : await scene.app.request(path, { method, body: JSON.stringify({ tokenUUID: token, ...fields }) });
      const text = await readText(response);
      if (response.status === 200) answered.add(name);
      else refusals.add(`${response.status} ${JSON.parse(text).error.code}`);
    }
    if ((await readState(scene)) !== before) changed.add(name);
  }
  return { answered: [...answered].sort(), changed: [...changed].sort(), refusals: [...refusals] };
};

test('lets a viewer token change nothing in any operation, and read only what its rights cover', async (context) => {
  const scene = await openScene();
  try {
    await makeContact(scene, 'browser');
    const viewer = await callAll(scene, scene.tokens.viewer);
    expect(viewer).toEqual({ answered: [...readable].sort(), changed: [], refusals: ['403 token_kind'] });

    const { body } = await scene.get('/account/getAccount', { tokenUUID: scene.tokens.viewer });
    expect(body.account).not.toHaveProperty('token');
    expect(JSON.stringify(body)).not.toContain(scene.tokens.browser);

    // Makes the same calls with a server token as a control: they change something.
    const server = await callAll(scene, scene.tokens.server);
    expect(server.changed).toEqual(expect.arrayContaining(['createToken', 'eraseContact', 'logEvent', 'mergeContact']));
    report(context, {
      fault: 'viewer token',
      count: `${operationNames.length} operations, each on all its paths`,
      result: `${viewer.answered.length} reads allowed, nothing changed, no token shown`,
      weakened: `a server token instead: ${server.changed.length} operations changed something`,
    });
  } finally {
    await scene.close();
  }
});

test('lets an editor token change only contacts, catalogues, segments, views and share links', async () => {
  const scene = await openScene();
  try {
    const editor = await callAll(scene, scene.tokens.editor);
    expect(editor.answered).toEqual([...readable, ...editable].sort());
    expect(editor.refusals).toEqual(['403 token_kind']);
    const changing = editor.changed.filter((name) => !editable.includes(name));
    expect(changing).toEqual([]);
    const { tokens, get, post } = scene;
    const { body } = await get('/account/getAccount', { tokenUUID: tokens.editor });
    expect(body.account).not.toHaveProperty('token');
    expect(JSON.stringify(body)).not.toContain(tokens.browser);
    const update = (fields: object) => post('/account/updateAccount', { tokenUUID: tokens.editor, ...fields });
    for (const field of [
      ...['accountName', 'accountTimezone', 'accountCurrency', 'strict', 'browserCatalogue', 'enrich', 'accountOrigin'],
      ...['defaultProfileID', 'userIDIsEmailaddress'],
    ]) {
      const values = {
        accountName: 'Mine',
        accountTimezone: 'UTC',
        accountCurrency: 'EUR',
        accountOrigin: [],
        defaultProfileID: 'a',
      };
      const refused = await update({
        [field]: (values as Record<string, unknown>)[field] ?? true,
        tag: [{ tagID: field }],
      });
      expect([refused.status, refused.body.error.code, refused.body.error.field]).toEqual([403, 'token_kind', field]);
    }
    expect((await update({ tag: [{ tagID: 'vip', browser: true }] })).status).toBe(200);
    const { account } = (await get('/account/getAccount', { tokenUUID: tokens.editor })).body;
    expect(account.tag).toEqual([expect.objectContaining({ tagID: 'vip' })]);
  } finally {
    await scene.close();
  }
});

test('refuses a viewer token in every request that has a web page’s Origin', async () => {
  const scene = await openScene();
  try {
    for (const { path, operation } of operationPaths) {
      const init = {
        method: operation.methods[0],
        headers: { Origin: 'https://shop.example', Authorization: `Bearer ${scene.tokens.viewer}` },
      };
      const { status, body } = await scene.send(path, init);
      expect([path, status, body.error.code]).toEqual([path, 403, 'server_token_in_browser']);
    }
  } finally {
    await scene.close();
  }
});
