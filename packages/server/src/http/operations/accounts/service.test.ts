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

  it('says when backups are made, and when the newest was', async () => {
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

  it('tells of an unknown proxy for a day', async () => {
    await scene.store.noteUnknownProxy({ seenTime: now - day });
    expect(await ask()).toMatchObject({ unknownProxy: true });
    await scene.store.noteUnknownProxy({ seenTime: null });
    expect(await ask()).toMatchObject({ unknownProxy: false });
    await scene.store.noteUnknownProxy({ seenTime: now - day - 1 });
    expect(await ask()).toMatchObject({ unknownProxy: false });
  });

  it('is for owners', async () => {
    expect(await ask('viewer')).toMatchObject({ status: 403, error: { code: 'token_kind' } });
  });
});
