import { auditActions } from '@firsthand/contract/account/audit';
import { operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeContact, smallestInput } from '../../../../test/fixtures/requests.ts';
import { openScene, type Scene } from '../../../../test/fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

/** Actions without an operation, and actions on refused requests, which refused.test.ts tests. */
const excludedActions = [
  'joinMember',
  'changePassword',
  'addPasskey',
  'removePasskey',
  'deleteAccount',
  'replayRefused',
  'discardRefused',
  'copy',
  'backup',
] as const;
const overHTTP = auditActions.filter((action): action is Exclude<typeof action, (typeof excludedActions)[number]> =>
  (excludedActions as readonly string[]).every((other) => action !== other),
);

const list = async (fields: object) =>
  (await scene.get('/account/listAudit', { tokenUUID: scene.tokens.operator, ...fields })).body.audit;

it.each(overHTTP)('records %s once, with its token and without personal data', async (action) => {
  const kind = action === 'createAccount' ? 'operator' : 'server';
  const input = await smallestInput[action](scene, kind);
  const listed = async (accountUUID: string) => (await list({ accountUUID, action })).length;
  const before = kind === 'operator' ? 0 : await listed(scene.accountUUID);
  const { status, body } = await scene.post(operations[action].paths[0], { tokenUUID: scene.tokens[kind], ...input });
  expect(status).toBe(200);
  const accountUUID = action === 'createAccount' ? body.accountUUID : scene.accountUUID;
  expect(await listed(accountUUID)).toBe(before + 1);

  const { account } = (await scene.get('/account/getAccount', { tokenUUID: scene.tokens.server })).body;
  const [server] = account.token.filter(({ tokenKind }: { tokenKind: string }) => tokenKind === 'server');
  const [entry] = await list({ accountUUID, action, limit: 1 });
  expect(entry.actor).toBe(kind === 'operator' ? 'operator' : server.tokenID);
  const { userUUID, contactUUID, otherContactUUID, linkID, claimID, tokenID } = { ...body, ...input };
  expect(JSON.stringify(entry)).not.toContain(userUUID ?? '@');
  for (const [name, value] of Object.entries({ contactUUID, otherContactUUID, linkID, claimID, tokenID })) {
    if (name in entry.subject) expect([name, entry.subject[name]]).toEqual([name, value]);
  }
});

it('records an export with several pages once', async () => {
  const { contactUUID, userUUID } = await makeContact(scene);
  const event = [1, 2, 3].map((eventID) => ({ eventID }));
  await scene.post('/event/logEvents', { tokenUUID: scene.tokens.server, userUUID, event });
  const read = (cursor: string) =>
    scene.post('/contact/exportContact', { tokenUUID: scene.tokens.server, contactUUID, limit: 1, cursor });
  let pages = 0;
  for (let cursor = ''; cursor !== '' || pages === 0; pages += 1) cursor = (await read(cursor)).body.nextCursor;
  expect(pages).toBeGreaterThan(2);
  const exports = await list({ accountUUID: scene.accountUUID, action: 'exportContact' });
  expect(exports.filter(({ subject }: { subject: object }) => JSON.stringify(subject).includes(contactUUID))).toEqual([
    expect.objectContaining({ subject: { contactUUID } }),
  ]);
});
