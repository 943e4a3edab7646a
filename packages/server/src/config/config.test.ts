import { operationNames, operations } from '@firsthand/contract/operations';
import { describe, expect, it } from 'vitest';
import { defaultRateLimits } from '../http/access/rate-limits.ts';
import { BadConfiguration, findMisspelledSettings, readConfig, settings } from './config.ts';

it('has a default for every setting', () => {
  expect(readConfig({})).toEqual({
    port: 3000,
    host: '127.0.0.1',
    basePath: '/',
    trackerPath: '/main.js',
    apiPrefix: undefined,
    segmentPath: '/v1/',
    docs: 'on',
    databaseURL: 'sqlite:./data/firsthand.db',
    operatorToken: undefined,
    trustProxy: undefined,
    rateLimits: undefined,
    geo: 'off',
    geoFile: undefined,
    geoHeader: undefined,
    retentionDays: undefined,
    accountBytes: undefined,
    backupDir: undefined,
    backupEvery: 86_400_000,
    backupKeep: 7,
    reportsDir: undefined,
    reportsMemory: 256,
    reportsThreads: 2,
    reportsSeconds: 10,
    metricsToken: undefined,
    metricsPort: undefined,
    logLevel: undefined,
  });
});

it('treats an empty variable as absent', () => {
  const empty = Object.fromEntries(Object.values(settings).map(({ variable }) => [variable, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

it('prefers a flag over its variable', () => {
  expect(readConfig({ PORT: '1', HOST: '::1' }, { port: '2' })).toMatchObject({ port: 2, host: '::1' });
});

describe.each([
  [
    'PORT',
    [
      ['0', 0],
      ['65535', 65_535],
    ],
    ['65536', '-1', '3e3', '0x10', '1.5', 'http'],
  ],
  ['HOST', ['127.0.0.1', '::', '0.0.0.0', 'localhost', 'a.example'], ['a b', 'http://a', 'a/b', '-a', '[::1]']],
  [
    'BASE_PATH',
    [
      ['/', '/'],
      ['/a', '/a/'],
      ['/a/', '/a/'],
      ['/a/b.c', '/a/b.c/'],
    ],
    ['a', '//', '/a//b', '/a?b', '/a b', '/:a', '/*', '/a/../b', '/.'],
  ],
  [
    'TRACKER_PATH',
    ['/main.js', '/tracker.js', '/a/b.c/d-e_f~g.js', `/${'a'.repeat(196)}.js`],
    [
      ...['main.js', '/main', '/main.mjs', '/.js', '/a/.js', '//a.js', '/a//b.js', '/a.js/', '/../a.js', '/a/./b.js'],
      ...['/a?b.js', '/a%2e.js', '/:a.js', '/*.js', '/ä.js', '/a.js\n', `/${'a'.repeat(197)}.js`],
      ...['/event/main.js', '/update/main.js', '/user/main.js', '/arrive/main.js', '/demo/main.js'],
      ...['/tracker.full.js', '/tracker.domains.js', '/tracker.0123456789abcdef.js'],
    ],
  ],
  [
    'API_PREFIX',
    [
      ['/', '/'],
      ['/shop-data', '/shop-data/'],
      ['/a/b/', '/a/b/'],
    ],
    [
      ...['a', '//', '/a//b', '/a?b', '/:a', '/..', '/event', '/account/x', '/user', '/form', '/leave', '/mcp'],
      '/readyz',
      `/${'a'.repeat(200)}`,
    ],
  ],
  [
    'DATABASE_URL',
    ['sqlite:x.db', 'sqlite:/var/x.db', 'sqlite::memory:', 'postgres://me:secret@db/x', 'postgresql://db/x'],
    ['sqlite:', 'x.db', 'mysql://x', 'file:x.db', 'postgres:x', 'postgres://'],
  ],
  [
    'OPERATOR_TOKEN',
    [`operator_${'a'.repeat(22)}`],
    [`operator_${'a'.repeat(21)}`, 'a'.repeat(40), `operator_${'a '.repeat(20)}`],
  ],
  [
    'TRUST_PROXY',
    [['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']]],
    ['true', '10.0.0.0/33', '10.0.0.0/8/8', '1.2.3', '10.0.0.1,', '::1/129'],
  ],
  [
    'ACCOUNT_BYTES',
    [
      ['1', 1],
      ['50000000000', 50_000_000_000],
    ],
    ['0', '1.5', '10G', '-1', '1e9', '1000000000000000'],
  ],
  [
    'RETENTION_DAYS',
    [
      ['1', 1],
      ['3650', 3650],
    ],
    ['0', '1.5', 'never', '-1'],
  ],
  ['GEO', ['off'], ['on', 'Country', 'city']],
  ['GEO_FILE', ['./countries.mmdb', '/var/lib/a b.mmdb'], ['\0', 'x'.repeat(4_097)]],
  ['GEO_HEADER', ['CF-IPCountry', 'x-country'], ['CF IPCountry', 'a:b', '-a', 'x'.repeat(101)]],
  ['BACKUP_DIR', ['./backups', '/var/backups/a b'], ['\0', 'x'.repeat(4_097)]],
  [
    'BACKUP_EVERY',
    [
      ['10s', 10_000],
      ['30m', 1_800_000],
      ['6h', 21_600_000],
      ['365d', 31_536_000_000],
    ],
    ['9s', '366d', '1', 'd', '1.5h', '1 d', '1w', '-1d', '1D', '9999999m'],
  ],
  [
    'BACKUP_KEEP',
    [
      ['1', 1],
      ['10000', 10_000],
    ],
    ['0', '10001', 'all'],
  ],
  ['REPORTS_DIR', ['./reports', '/var/lib/reports'], ['\0', 'a'.repeat(4_097)]],
  [
    'REPORTS_MEMORY',
    [
      ['128', 128],
      ['1000000', 1_000_000],
    ],
    ['127', '1000001', '256MB', '-1'],
  ],
  [
    'REPORTS_THREADS',
    [
      ['1', 1],
      ['256', 256],
    ],
    ['0', '257', 'all'],
  ],
  [
    'REPORTS_SECONDS',
    [
      ['1', 1],
      ['240', 240],
    ],
    ['0', '241', '10s'],
  ],
  ['METRICS_TOKEN', ['a'.repeat(22), 'b_-'.repeat(40)], ['a'.repeat(21), 'a '.repeat(20), 'é'.repeat(30)]],
  [
    'METRICS_PORT',
    [
      ['0', 0],
      ['9464', 9_464],
    ],
    ['65536', '-1', 'x'],
  ],
  [
    'CONSOLE_ORIGIN',
    ['https://firsthand.shop.example', 'https://a.example:8443'],
    ['http://a.example', 'https://a.example/', 'a.example', 'https://A.example', 'https://*.a.example/x', 'null'],
  ],
  [
    'SECURITY_CONTACT',
    ['mailto:security@shop.example', 'https://shop.example/security?from=txt', 'tel:+1-201-555-0123'],
    [
      'security@shop.example',
      'mailto:security',
      'mailto:a@b\nExpires: never',
      'http://shop.example/security',
      'https://',
      'https:///x',
      'https://name@shop.example/',
      'https://shop.example/a b',
      'tel:0123',
      `https://shop.example/${'a'.repeat(500)}`,
    ],
  ],
  ['LOG_LEVEL', ['debug', 'silent'], ['verbose', 'DEBUG']],
  [
    'RATE_LIMIT',
    [
      [
        'address=1/2, user=0.5/10',
        { ...defaultRateLimits, address: { perSecond: 1, burst: 2 }, user: { perSecond: 0.5, burst: 10 } },
      ],
    ],
    ['address', 'address=1', 'address=0/5', 'address=5/0', 'nobody=1/1', 'address=1/1;user=1/1', '__proto__=1/1'],
  ],
] as const)('%s', (variable, valid, invalid) => {
  const name = Object.entries(settings).find(([, setting]) => setting.variable === variable)?.[0];
  if (!name) throw new Error(`there is no ${variable}`);

  it.each(valid.map((entry) => (typeof entry === 'string' ? ([entry, entry] as const) : entry)))(
    'accepts %s',
    (text, value) => {
      const required = { BACKUP_: { BACKUP_DIR: 'x' }, GEO_: { GEO: 'country', GEO_FILE: 'x', TRUST_PROXY: '::1' } };
      const env = Object.entries(required).find(([prefix]) => variable.startsWith(prefix))?.[1] ?? {};
      expect(readConfig({ ...env, [variable]: text })).toHaveProperty(name, value);
      expect(readConfig(env, { [name]: text })).toHaveProperty(name, value);
    },
  );

  it.each(invalid)('rejects %s', (text) => {
    expect(() => readConfig({ [variable]: text })).toThrow(BadConfiguration);
    expect(() => readConfig({ [variable]: text })).toThrow(new RegExp(`^${variable} \\(or --[a-z-]+\\) must be `));
  });
});

it('reports all invalid settings together, without quoting secrets', () => {
  const secret = 'operator_too-short';
  expect(() => readConfig({ PORT: 'x', OPERATOR_TOKEN: secret })).toThrow(/^PORT .*\nOPERATOR_TOKEN [^\n]*$/);
  expect(() => readConfig({ PORT: 'x', OPERATOR_TOKEN: secret })).not.toThrow(secret);
});

it('does not quote a database password', () => {
  expect(() => readConfig({ DATABASE_URL: 'mysql://me:secret@db/x' })).toThrow(/^DATABASE_URL .* must be /);
  expect(() => readConfig({ DATABASE_URL: 'mysql://me:secret@db/x' })).not.toThrow('secret');
});

it.each(['postgres://db/x', 'sqlite::memory:'])('rejects BACKUP_DIR for %s and suggests pg_dump', (databaseURL) => {
  expect(() => readConfig({ BACKUP_DIR: 'x', DATABASE_URL: databaseURL })).toThrow(BadConfiguration);
  expect(() => readConfig({ BACKUP_DIR: 'x', DATABASE_URL: databaseURL })).toThrow(/^BACKUP_DIR .* pg_dump/);
});

it.each(['BACKUP_EVERY', 'BACKUP_KEEP'])('rejects %s without BACKUP_DIR', (variable) => {
  expect(() => readConfig({ [variable]: variable === 'BACKUP_EVERY' ? '1h' : '3' })).toThrow(
    new BadConfiguration(`${variable} has no effect without BACKUP_DIR (or --backup-dir): set both, or neither`),
  );
});

it('suggests a misspelled variable when a required one is missing', () => {
  expect(() => readConfig({ BACKUP_KEEP: '3', BACKUP_DRI: '/srv/backups' })).toThrow(
    /^BACKUP_KEEP has no effect without BACKUP_DIR .*\nBACKUP_DRI is not a setting and is ignored. Did you mean BACKUP_DIR\?$/,
  );
});

it.each(['GEO_FILE', 'GEO_HEADER'])('rejects %s without GEO', (variable) => {
  expect(() => readConfig({ [variable]: 'x', TRUST_PROXY: '::1' })).toThrow(
    new BadConfiguration(`${variable} has no effect without GEO (or --geo): set both, or neither`),
  );
  expect(readConfig({ [variable]: 'x', GEO: 'off', TRUST_PROXY: '::1' })).toMatchObject({ geo: 'off' });
});

it('rejects GEO_HEADER without TRUST_PROXY', () => {
  const env = { GEO: 'country', GEO_HEADER: 'CF-IPCountry' };
  expect(() => readConfig(env)).toThrow(/^GEO_HEADER .* requires TRUST_PROXY /);
  expect(readConfig({ ...env, TRUST_PROXY: '::1' })).toMatchObject({ geoHeader: 'CF-IPCountry' });
});

describe('the settings of mails', () => {
  const mails = {
    SMTP_URL: 'smtps://ann%40shop.example:p%3Fw@mail.example',
    MAIL_FROM: 'Firsthand <reports@shop.example>',
    CONSOLE_ORIGIN: 'https://console.shop.example',
  };

  it('are a server, a sender and the origin of the links', () => {
    const { smtpURL, mailFrom } = readConfig(mails);
    expect(smtpURL).toMatchObject({ protocol: 'smtps:', hostname: 'mail.example', username: 'ann%40shop.example' });
    expect(mailFrom).toEqual({ name: 'Firsthand', address: 'reports@shop.example' });
    const { mailFrom: address } = readConfig({ ...mails, MAIL_FROM: 'reports@shop.example' });
    expect(address).toEqual({ name: '', address: 'reports@shop.example' });
  });

  it('require each other', () => {
    const reads = (names: readonly (keyof typeof mails)[]) => () =>
      readConfig(Object.fromEntries(names.map((name) => [name, mails[name]])));
    expect(reads(['SMTP_URL', 'CONSOLE_ORIGIN'])).toThrow(/^SMTP_URL has no effect without MAIL_FROM/);
    expect(reads(['MAIL_FROM'])).toThrow(/^MAIL_FROM has no effect without SMTP_URL/);
    expect(reads(['SMTP_URL', 'MAIL_FROM'])).toThrow(/^SMTP_URL \(or --smtp-url\) requires CONSOLE_ORIGIN/);
  });

  it.each([
    'mail.example',
    'http://mail.example',
    'smtp://',
    'smtp:///x',
    'smtp://a/b',
    'smtp://a?tls=0',
    'smtp://a:99999',
  ])('reject SMTP_URL=%s without quoting it', (SMTP_URL) => {
    expect(() => readConfig({ ...mails, SMTP_URL })).toThrow(/^SMTP_URL \(or --smtp-url\) must be smtp:\/\/host:port/);
    expect(() => readConfig({ ...mails, SMTP_URL })).not.toThrow(`not "${SMTP_URL}"`);
  });

  it.each([
    'reports',
    'a b@shop.example',
    'A\r\nBcc: x <a@shop.example>',
    '<a@shop.example',
    'a@b.example, c@d.example',
  ])('reject MAIL_FROM=%j', (MAIL_FROM) => {
    expect(() => readConfig({ ...mails, MAIL_FROM })).toThrow(
      /^MAIL_FROM \(or --mail-from\) must be an e-mail address/,
    );
  });
});

describe('findMisspelledSettings', () => {
  it.each([
    ['BACKUP_EVRY', 'BACKUP_EVERY'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['trust_proxy', 'TRUST_PROXY'],
    ['PROT', 'PORT'],
  ])('suggests a setting for %s', (name, suggestion) => {
    expect(findMisspelledSettings({ [name]: 'x' })).toEqual([
      `${name} is not a setting and is ignored. Did you mean ${suggestion}?`,
    ]);
  });

  it('ignores settings and variables set by shells, systemd, containers and npm', () => {
    const ordinary = [
      ...['HOME', 'HOSTNAME', 'INVOCATION_ID', 'JOURNAL_STREAM', 'KUBERNETES_PORT', 'LANG', 'LOGNAME', 'LS_COLORS'],
      ...['MAIL', 'NODE_ENV', 'NODE_OPTIONS', 'NOTIFY_SOCKET', 'OLDPWD', 'PATH', 'PGHOST', 'PGPORT', 'PWD', 'SHELL'],
      ...['SHLVL', 'SSH_TTY', 'STATE_DIRECTORY', 'TERM', 'TMPDIR', 'TZ', 'USER', 'WORKERS', 'XDG_RUNTIME_DIR'],
      ...['npm_config_loglevel', 'npm_package_name', 'FIRSTHAND_TOKEN', 'FIRSTHAND_PORT', 'DEBUG', '_'],
      ...Object.values(settings).map(({ variable }) => variable),
    ];
    expect(findMisspelledSettings(Object.fromEntries(ordinary.map((name) => [name, 'x'])))).toEqual([]);
  });
});

it('requires a country source for GEO=country', () => {
  expect(() => readConfig({ GEO: 'country' })).toThrow(BadConfiguration);
  expect(() => readConfig({ GEO: 'country' })).toThrow(
    /^GEO \(or --geo\) is country: GEO_FILE \(or --geo-file\) must name .*, or GEO_HEADER \(or --geo-header\)/,
  );
  expect(readConfig({ GEO: 'country', GEO_FILE: 'x.mmdb' })).toMatchObject({ geo: 'country', geoFile: 'x.mmdb' });
});

it('rejects the same PORT and METRICS_PORT, and names both settings', () => {
  expect(() => readConfig({ METRICS_PORT: '3000' })).toThrow(BadConfiguration);
  expect(() => readConfig({ METRICS_PORT: '9464', PORT: '9464' })).toThrow(
    /^METRICS_PORT \(or --metrics-port\) and PORT \(or --port\) are both 9464: /,
  );
  expect(readConfig({ METRICS_PORT: '0', PORT: '0' })).toMatchObject({ metricsPort: 0, port: 0 });
});

describe('WORKERS, which was removed,', () => {
  it.each(['', '1'])('still accepts %j', (workers) => {
    expect(readConfig({ WORKERS: workers })).toEqual(readConfig({}));
  });

  it.each(['0', '2', '64', 'all', ' '])('rejects %j and suggests an alternative', (workers) => {
    expect(() => readConfig({ WORKERS: workers })).toThrow(BadConfiguration);
    expect(() => readConfig({ WORKERS: workers })).toThrow(
      /^WORKERS is ".*", but this setting was removed: .* unset it\. .* several servers over one PostgreSQL database/,
    );
  });
});

it('rejects a TRACKER_PATH or API_PREFIX that starts with an operation’s path', () => {
  for (const path of operationNames.flatMap((name) => operations[name].paths as readonly string[])) {
    expect(() => readConfig({ TRACKER_PATH: `${path}/main.js` })).toThrow(
      /^TRACKER_PATH \(or --tracker-path\) must be/,
    );
    expect(() => readConfig({ API_PREFIX: path })).toThrow(/^API_PREFIX \(or --api-prefix\) must be/);
  }
});
