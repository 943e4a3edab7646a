/**
 * Tests nginx, Caddy and Apache with TLS, as proxies for a server on a path of the site's domain. The configurations
 * are the examples in deploy/.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { readConfig } from '../../src/config/config.ts';
import { scriptTag } from '../../src/http/script-tag.ts';
import { type Serving, serve } from '../../src/serving/serve.ts';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { createAccount, operatorToken } from '../fixtures/serving.ts';
import { soon } from '../fixtures/timeouts.ts';
import { freePort } from '../tools/ports.ts';
import { checkOwnPath, expectedOutput } from './own-path-check.ts';

interface Setup {
  readonly folder: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly serverPort: number;
}

const readExample = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

/** Replaces strings in an example, which must contain each of them. */
const adapt = (text: string, changes: readonly (readonly [from: string, to: string])[]): string =>
  changes.reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replaceAll(from, to);
  }, text);

/** Functions that write a configuration, and return the commands that check and run it. */
const proxies: Readonly<Record<string, (setup: Setup) => { check: string[]; run: string[] }>> = {
  nginx: ({ folder, httpPort, httpsPort, serverPort }) => {
    const site = adapt(readExample('nginx.conf'), [
      ['127.0.0.1:3000', `127.0.0.1:${serverPort}`],
      ['listen 80;', `listen ${httpPort};`],
      ['listen 443 ssl', `listen ${httpsPort} ssl`],
      // Removed, because the machine might not have IPv6.
      ['    listen [::]:80;\n', ''],
      ['    listen [::]:443 ssl http2;\n', ''],
      ['/etc/letsencrypt/live/shop.example/fullchain.pem', join(folder, 'cert.pem')],
      ['/etc/letsencrypt/live/shop.example/privkey.pem', join(folder, 'key.pem')],
      ['/etc/letsencrypt/live/firsthand.shop.example/fullchain.pem', join(folder, 'cert.pem')],
      ['/etc/letsencrypt/live/firsthand.shop.example/privkey.pem', join(folder, 'key.pem')],
      ['/var/www/shop.example', join(folder, 'site')],
    ]);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, 'nginx.conf');
    writeFileSync(join(folder, 'site.conf'), site);
    writeFileSync(
      file,
      `daemon off; user root; pid ${folder}/nginx.pid; error_log stderr; worker_processes 1; events {}
       http { include /etc/nginx/mime.types; access_log off; ${temporary.join(' ')} include ${folder}/site.conf; }`,
    );
    const args = ['-e', 'stderr', '-p', folder, '-c', file];
    return { check: ['/usr/sbin/nginx', '-t', ...args], run: ['/usr/sbin/nginx', ...args] };
  },
  caddy: ({ folder, httpPort, httpsPort, serverPort }) => {
    const site = adapt(readExample('Caddyfile'), [
      ['127.0.0.1:3000', `127.0.0.1:${serverPort}`],
      ['shop.example {\n', `shop.example {\n\ttls ${folder}/cert.pem ${folder}/key.pem\n`],
      ['/var/www/shop.example', join(folder, 'site')],
    ]);
    const file = join(folder, 'Caddyfile');
    const options = `admin off\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}`;
    writeFileSync(file, `{\n\t${options}\n}\n${site}`);
    const args = ['--config', file, '--adapter', 'caddyfile'];
    return { check: ['/usr/bin/caddy', 'validate', ...args], run: ['/usr/bin/caddy', 'run', ...args] };
  },
  apache: ({ folder, httpPort, httpsPort, serverPort }) => {
    const site = adapt(readExample('apache.conf'), [
      ['127.0.0.1:3000', `127.0.0.1:${serverPort}`],
      ['*:80>', `*:${httpPort}>`],
      ['*:443>', `*:${httpsPort}>`],
      ['/etc/letsencrypt/live/shop.example/fullchain.pem', join(folder, 'cert.pem')],
      ['/etc/letsencrypt/live/shop.example/privkey.pem', join(folder, 'key.pem')],
      ['/etc/letsencrypt/live/firsthand.shop.example/fullchain.pem', join(folder, 'cert.pem')],
      ['/etc/letsencrypt/live/firsthand.shop.example/privkey.pem', join(folder, 'key.pem')],
      ['/var/log/apache2/shop.example.log', join(folder, 'access.log')],
      ['/var/www/shop.example', join(folder, 'site')],
    ]);
    // Enables the modules that the example uses: those that Debian enables by default, and those that the example
    // names.
    const enabled = ['mpm_event', 'authz_core', 'alias', 'dir', 'mime', 'setenvif', 'ssl', 'proxy', 'proxy_http'];
    const modules = enabled.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
    const file = join(folder, 'apache.conf');
    writeFileSync(join(folder, 'site.conf'), site);
    writeFileSync(
      file,
      [
        ...modules,
        `ServerRoot ${folder}`,
        `PidFile ${folder}/apache.pid`,
        `ErrorLog ${folder}/error.log`,
        'ServerName shop.example',
        // Replaced, because Apache refuses to run as root.
        'User www-data',
        'Group www-data',
        'TypesConfig /etc/mime.types',
        'LogFormat "%h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" combined',
        `Listen ${httpPort}`,
        `Listen ${httpsPort}`,
        `IncludeOptional ${folder}/site.conf`,
        '',
      ].join('\n'),
    );
    chmodSync(folder, 0o755);
    return {
      check: ['/usr/sbin/apache2', '-t', '-f', file],
      run: ['/usr/sbin/apache2', '-D', 'FOREGROUND', '-f', file],
    };
  },
};

interface RequestOptions {
  readonly from?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

describe.each(Object.keys(proxies))('the server behind %s', (name) => {
  let serving: Serving;
  let setup: Setup;
  let tokens: { browserTokenUUID: string; serverTokenUUID: string };
  const ends: (() => void | Promise<void>)[] = [];

  beforeAll(async () => {
    const folder = temporaryFolder((end) => ends.unshift(end));
    const config = readConfig({
      DATABASE_URL: `sqlite:${folder}/firsthand.db`,
      PORT: '0',
      BASE_PATH: '/s/',
      TRUST_PROXY: '127.0.0.1',
      CONSOLE_ORIGIN: 'https://firsthand.shop.example',
      OPERATOR_TOKEN: operatorToken,
      RATE_LIMIT: 'address=0.001/10',
    });
    serving = await serve(config, { log: pino({ level: 'silent' }) });
    ends.unshift(async () => void (await serving.close()));
    tokens = await createAccount(serving.url);
    setup = {
      folder,
      httpPort: await freePort(),
      httpsPort: await freePort(),
      serverPort: Number(new URL(serving.url).port),
    };
    const subject = [
      '-subj',
      '/CN=shop.example',
      '-addext',
      'subjectAltName=DNS:shop.example,DNS:firsthand.shop.example',
      '-days',
      '2',
    ];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const files = ['-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`];
    execFileSync('openssl', ['req', '-x509', ...key, ...subject, ...files], { stdio: 'ignore' });
    mkdirSync(join(folder, 'site'));
    const tag = scriptTag('/s', tokens.browserTokenUUID, config);
    writeFileSync(join(folder, 'site/index.html'), `<!doctype html>${tag}<h1>A shop</h1>`);
    const { check, run } = (proxies[name] as (typeof proxies)[string])(setup);
    const [program = '', ...args] = check;
    const env = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const checkResult = await start(program, args, env).ended;
    expect([checkResult.code, checkResult.stderr]).toEqual([0, expect.not.stringContaining('[emerg]')]);
    const running = start('timeout', ['300', ...run], env);
    ends.unshift(async () => {
      running.child.kill('SIGTERM');
      await running.ended;
    });
    await vi.waitFor(async () => expect([(await send('/s/readyz')).status, running.written()]).toContain(200), soon);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  /** Sends a request to the site from one of this machine's IP addresses. */
  const open = (
    path: string,
    { from = '127.0.0.1', host = 'shop.example', headers = {}, body }: RequestOptions = {},
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: setup.httpsPort,
          servername: host,
          rejectUnauthorized: false,
          localAddress: from,
          agent: false,
          path,
          method: body === undefined ? 'GET' : 'POST',
          headers: { Host: `${host}:${setup.httpsPort}`, ...headers },
        },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  const send = async (path: string, requestOptions?: RequestOptions) => {
    const response = await open(path, requestOptions);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode, headers: response.headers, text };
  };
  const log = (requestOptions: RequestOptions = {}, event: object = {}) => {
    const fields = { tokenUUID: tokens.browserTokenUUID, userUUID: 'a-visitor-of-the-shop', eventID: 3, ...event };
    return send('/s/picture', { body: JSON.stringify(fields), ...requestOptions });
  };

  test('serves the compressed script under its path, and does not affect the rest of the site', async () => {
    expect((await send('/')).text).toContain('A shop');
    const { status, headers } = await send('/s/main.js', { headers: { 'Accept-Encoding': 'br' } });
    expect([status, headers['content-encoding'], headers['cache-control']]).toEqual([
      200,
      'br',
      'public, max-age=3600',
    ]);
    expect(headers.etag).toMatch(/-br"$/);
  });

  test('serves the console on a separate host, where an owner can sign in', async () => {
    const host = 'firsthand.shop.example';
    const { status, headers } = await send('/', { host });
    expect([status, headers.location]).toEqual([302, expect.stringMatching(/\/s\/console\/$/)]);
    const page = await send('/s/console/', { host });
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
    const pageHeaders = {
      'X-Firsthand-Console': '1',
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/json',
    };
    const body = JSON.stringify({ tokenUUID: tokens.serverTokenUUID });
    const signIn = (origin: string, at: string) =>
      send('/s/console/sign-in', { host: at, headers: { ...pageHeaders, Origin: origin }, body });
    const signInResponse = await signIn(`https://${host}`, host);
    expect([signInResponse.status, signInResponse.headers['set-cookie']?.[0]]).toEqual([
      200,
      expect.stringMatching(/^__Host-firsthand=/),
    ]);
    expect((await signIn('https://shop.example', 'shop.example')).status).toBe(403);
  });

  test('limits each IP address’s request rate, no matter what its headers claim', async () => {
    const statuses = async (from: string, times: number, forwarded?: string) => {
      const received = [];
      for (let nth = 0; nth < times; nth++) {
        const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded, 'X-Real-IP': forwarded };
        received.push((await log({ from, headers })).status);
      }
      return received;
    };
    expect(await statuses('127.0.0.2', 12)).toEqual([...Array(10).fill(200), 429, 429]);
    for (const forged of ['198.51.100.7', '127.0.0.3', '127.0.0.1, 198.51.100.8', 'unknown', '']) {
      expect([forged, await statuses('127.0.0.2', 1, forged)]).toEqual([forged, [429]]);
    }
    expect(await statuses('127.0.0.3', 11)).toEqual([...Array(10).fill(200), 429]);
  });

  test('passes the guide’s check', async () => {
    const site = `shop.example:${setup.httpsPort}`;
    writeFileSync(join(setup.folder, '.curlrc'), `insecure\nresolve = "${site}:127.0.0.1"\n`);
    const printed = await checkOwnPath(`https://${site}`, tokens.browserTokenUUID, { CURL_HOME: setup.folder });
    expect(printed).toBe(expectedOutput);
  });

  test('streams an event immediately', async () => {
    const headers = { Authorization: `Bearer ${tokens.serverTokenUUID}` };
    const stream = await open('/s/event/streamEvents', { headers });
    expect(stream.statusCode).toBe(200);
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    // Waits for the stream's first bytes.
    await expect.poll(() => text).toContain(':');
    await log({ from: '127.0.0.4' }, { eventUUID: 'seen-in-a-stream' });
    await expect.poll(() => text, { timeout: 10_000 }).toContain('seen-in-a-stream');
    stream.destroy();
  });

  test('accepts a one-megabyte batch, refuses a larger batch, and lets the proxy refuse a huge one', async () => {
    const headers = { Authorization: `Bearer ${tokens.serverTokenUUID}` };
    const batchOf = (events: number) =>
      JSON.stringify({
        userUUID: 'a-visitor-of-the-shop',
        event: Array.from({ length: events }, () => ({
          eventID: 1,
          eventAttrArray: [{ attrID: 'text', attrValue: 'x'.repeat(2_000) }],
        })),
      });
    expect((await send('/s/event/logEvents', { headers, body: batchOf(500) })).status).toBe(200);
    const { status, text } = await send('/s/event/logEvents', { headers, body: batchOf(600) });
    expect([status, JSON.parse(text).error.code]).toEqual([413, 'body_too_large']);
    const refused = await send('/s/event/logEvents', { headers, body: batchOf(1_500) });
    // nginx refuses the batch because of its length. Caddy 2.6 forwards what it reads, then responds with 502, unless
    // the server responds first.
    expect([413, 502]).toContain(refused.status);
  });

  test('renews a visitor’s cookie for 400 days on the site’s own domain', async () => {
    const browser = await launchChromium('--host-resolver-rules=MAP shop.example 127.0.0.1');
    try {
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      const page = await context.newPage();
      const update = () => page.waitForResponse((response) => response.url().endsWith('/s/update'));
      // Waits for the response to the page view too, because it also renews the cookie.
      await Promise.all([update(), page.goto(`https://shop.example:${setup.httpsPort}/`)]);
      const cookieOf = async () => (await context.cookies()).find((cookie) => cookie.name === 'userUUID');
      await expect.poll(async () => (await cookieOf())?.value).toBeTruthy();
      const userUUID = (await cookieOf())?.value as string;
      const daysLeft = async () => Math.round((((await cookieOf())?.expires ?? 0) - Date.now() / 1_000) / 86_400);
      // Sets the cookie for seven days, the limit that Safari sets for scripts.
      await page.evaluate(
        `document.cookie = 'userUUID=${userUUID}; domain=shop.example; path=/; max-age=604800; secure; samesite=lax'`,
      );
      expect(await daysLeft()).toBe(7);
      const updateResponse = update();
      await page.evaluate('void tracker.log(7)');
      const setCookie = await (await updateResponse).headerValue('set-cookie');
      expect(setCookie).toBe(
        `userUUID=${userUUID}; Path=/; Max-Age=34560000; SameSite=Lax; Domain=shop.example; Secure`,
      );
      await expect.poll(daysLeft).toBe(400);
      const { event } = await createClient({ url: serving.url, token: tokens.serverTokenUUID }).getEvent({ userUUID });
      // Expects the page view that the script tag logs.
      expect(event).toMatchObject([{ eventID: 7 }, { eventName: 'Page viewed' }]);
    } finally {
      await browser.close();
    }
  });
});
