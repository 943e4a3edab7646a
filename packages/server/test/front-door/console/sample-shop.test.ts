/** Tests who is allowed to remove the sample shop, and who can see that it exists. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openScene, type Scene } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from './requests.ts';

const remove = vi.fn(async () => {});
const local = { incoming: { socket: { remoteAddress: '127.0.0.1' } } };

let scene: Scene;
beforeEach(async () => {
  remove.mockClear();
  const sampleShop = {
    fill: async () => 0,
    progress: () => undefined,
    isShop: () => true,
    exists: async () => true,
    remove,
  };
  scene = await openScene({ consoleOrigin, sampleShop });
});
afterEach(() => scene.close());

const removeAs = async (kind: 'viewer' | 'editor' | 'server') => {
  const { headers, body } = await signInWith(scene, { tokenUUID: scene.tokens[kind] });
  const path = '/console/sample-shop/remove';
  const request = {
    method: 'POST',
    headers: { ...fromConsole(cookieFrom(headers), body.session.sessionID), Host: '127.0.0.1' },
  };
  return scene.send(path, request, local);
};

it.each(['viewer', 'editor'] as const)('rejects a session of kind %s', async (kind) => {
  const { status, body } = await removeAs(kind);
  expect([status, body.error.code, body.error.message]).toEqual([403, 'token_kind', expect.stringContaining('owner')]);
  expect(remove).not.toHaveBeenCalled();
});

it('removes the sample shop for an owner', async () => {
  expect((await removeAs('server')).status).toBe(200);
  expect(remove).toHaveBeenCalledOnce();
});

it('reveals the sample shop only to visitors on this machine', async () => {
  const request = { headers: { ...fromConsole(''), Host: '127.0.0.1' } };
  const readSession = async (...from: (typeof local)[]) =>
    (await scene.send('/console/session', request, ...from)).body;
  expect(await readSession(local)).toMatchObject({ sampleShop: { accountUUID: '', exists: true } });
  expect(await readSession()).not.toHaveProperty('sampleShop');
});
