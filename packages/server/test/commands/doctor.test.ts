import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, startServer, temporaryDatabase } from '../fixtures/command.ts';

const userUUID = 'visitor-behind-proxy';

it('doctor reports a proxy that a server without TRUST_PROXY has seen, until one has TRUST_PROXY', async () => {
  const { env } = temporaryDatabase();
  const { browserTokenUUID: tokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const examine = async () => {
    const { code, stdout } = await firsthand(['doctor', '--json'], env);
    const { finding } = JSON.parse(stdout);
    return { code, ...finding.find(({ name }: { name: string }) => name === 'proxy') };
  };
  const log = async (url: string, headers: Record<string, string>) => {
    const body = JSON.stringify({ tokenUUID, userUUID, eventID: 1 });
    expect((await fetch(`${url}/logEvent`, { method: 'POST', body, headers })).status).toBe(200);
  };
  const untold = await startServer(env);
  await log(untold.url, {});
  expect(await examine()).toMatchObject({ code: 0, ok: true, detail: 'none forwards while TRUST_PROXY is not set' });
  await log(untold.url, { 'X-Forwarded-For': '198.51.100.7' });
  await expect.poll(examine, { timeout: 10_000 }).toMatchObject({
    code: 1,
    ok: false,
    detail: expect.stringMatching(/^one on a private address forwarded requests on 20/),
  });
  expect((await examine()).detail).not.toContain('198.51');
  untold.child.kill('SIGTERM');
  await untold.ended;

  const told = await startServer({ ...env, TRUST_PROXY: '127.0.0.1' });
  await log(told.url, { 'X-Forwarded-For': '198.51.100.7' });
  await expect.poll(examine, { timeout: 10_000 }).toMatchObject({ code: 0, ok: true });
});
