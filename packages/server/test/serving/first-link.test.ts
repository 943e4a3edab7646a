import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { spawnFirsthand, start, startServer, temporaryDatabase } from '../fixtures/command.ts';
import { operatorToken, serveHere } from '../fixtures/serving.ts';
import { fromConsole } from '../front-door/console/requests.ts';

const consoleOrigin = 'https://events.shop.example';

it('creates an account in an empty database, and a one-time sign-in link for it', async () => {
  const { env } = temporaryDatabase();
  const settings = { ...env, CONSOLE_ORIGIN: consoleOrigin, BASE_PATH: '/s/' };
  const { url, consoleURL = '', close } = await serveHere(settings, { firstLink: true });
  const [root, code] = consoleURL.split('/console/#code=');
  expect(root).toBe('https://events.shop.example/s');
  const signIn = () =>
    fetch(`${url}/console/sign-in`, {
      method: 'POST',
      // Sends the request through the web server on the console's host.
      headers: { ...fromConsole('', '1', consoleOrigin), 'Content-Type': 'application/json' },
      body: JSON.stringify({ code }),
    });
  const signedIn = await signIn();
  expect([signedIn.status, await signedIn.json()]).toMatchObject([200, { session: { accountName: 'My site' } }]);
  expect((await signIn()).status).toBe(401);
  await close();
  expect((await serveHere(settings, { firstLink: true })).consoleURL).toBeUndefined();
});

it('creates neither an account nor a link in a database with an account', async () => {
  const { env } = temporaryDatabase();
  const first = await serveHere(env);
  await createClient({ url: first.url, token: operatorToken }).createAccount({ accountName: 'Shop' });
  await first.close();
  expect((await serveHere(env, { firstLink: true })).consoleURL).toBeUndefined();
});

it('prints the link only in a terminal', async () => {
  const piped = await startServer(temporaryDatabase().env);
  expect(piped.written()).not.toContain('#code=');
  const { env } = temporaryDatabase();
  const { spawnargs } = spawnFirsthand(['--version']).child;
  const command = [...spawnargs.slice(0, -1), 'serve', '--port', '0'].join(' ');
  const onTerminal = start('timeout', ['60', 'script', '-qec', command, '/dev/null'], env);
  const [link = ''] = await onTerminal.waitForOutput(/http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{24}/);
  onTerminal.child.kill('SIGTERM');
  await onTerminal.ended;
  const log = onTerminal
    .written()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(log.length).toBeGreaterThan(0);
  expect(log.join('\n')).not.toContain(link.split('#code=')[1]);
});
