import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScene, type Scene } from '../../../../test/fixtures/scene.ts';

const now = Date.UTC(2026, 10, 25, 12);
const day = 86_400_000;

describe('getService', () => {
  let scene: Scene;
  let newest: number | undefined;
  beforeAll(async () => {
    const serviceFacts = { retentionDays: 400, backupEveryMs: day, newestBackup: () => newest };
    scene = await openScene({ serviceFacts, now: () => now });
  });
  afterAll(() => scene.close());
  const ask = async (kind: 'server' | 'operator' | 'viewer' = 'server') => {
    const { status, body } = await scene.get('/account/getService', { tokenUUID: scene.tokens[kind] });
    return { ...body, status };
  };

  it('returns the backup interval and the time of the newest backup', async () => {
    const facts = { version: expect.stringMatching(/^\d+\.\d+\.\d+/), retentionDays: 400, backupSeconds: 86_400 };
    expect(await ask()).toEqual({ status: 200, ...facts, unknownProxy: false });
    newest = now - 1_000;
    expect(await ask('operator')).toEqual({
      status: 200,
      ...facts,
      backupTime: '2026-11-25T11:59:59.000Z',
      unknownProxy: false,
    });
  });

  it('reports an unlisted proxy for a day', async () => {
    await scene.store.recordUnknownProxy({ seenTime: now - day });
    expect(await ask()).toMatchObject({ unknownProxy: true });
    await scene.store.recordUnknownProxy({ seenTime: null });
    expect(await ask()).toMatchObject({ unknownProxy: false });
    await scene.store.recordUnknownProxy({ seenTime: now - day - 1 });
    expect(await ask()).toMatchObject({ unknownProxy: false });
  });

  it('returns the newest page whose origin is not listed', async () => {
    const { browser, server } = scene.tokens;
    await scene.post('/account/updateAccount', { tokenUUID: server, accountOrigin: ['https://shop.example'] });
    expect(await ask()).not.toHaveProperty('refusedOrigin');
    const log = (origin: string) =>
      scene.post('/logEvent', { tokenUUID: browser, userUUID: 'somebody-somewhere', eventID: 1 }, { Origin: origin });
    const noOrigins = [
      'null',
      'https://evil.example/path',
      'file://',
      `https://${'x.'.repeat(200)}example`,
      'x'.repeat(9_000),
    ];
    for (const origin of ['https://old.example', 'http://new.example:8080', ...noOrigins, 'https://shop.example'])
      await log(origin);
    const refusedOrigin = { origin: 'http://new.example:8080', refusedTime: '2026-11-25T12:00:00.000Z' };
    expect(await ask()).toMatchObject({ refusedOrigin });
    expect(await ask('operator')).not.toHaveProperty('refusedOrigin');
  });

  it('returns the page that most recently sent a secret token', async () => {
    const { browser, server } = scene.tokens;
    expect(await ask()).not.toHaveProperty('leakedToken');
    const log = (tokenUUID: string, origin: string) =>
      scene.post('/logEvent', { tokenUUID, userUUID: 'somebody-somewhere', eventID: 1 }, { Origin: origin });
    await log(server, 'https://shop.example');
    await log(server, 'null');
    await log(browser, 'https://other.example');
    const account = (await scene.get('/account/getAccount', { tokenUUID: server })).body.account;
    const { tokenID } = account.token.find((each: { tokenKind: string }) => each.tokenKind === 'server');
    const leakedToken = { origin: 'https://shop.example', tokenID, refusedTime: '2026-11-25T12:00:00.000Z' };
    expect(await ask()).toMatchObject({ leakedToken });
    expect(await ask('operator')).not.toHaveProperty('leakedToken');
  });

  it('is available only to owners', async () => {
    expect(await ask('viewer')).toMatchObject({ status: 403, error: { code: 'token_kind' } });
  });
});
