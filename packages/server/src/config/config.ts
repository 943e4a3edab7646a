/** The server's settings: environment variables, each with a matching flag that takes precedence. */
import { isIP } from 'node:net';
import { pageNames } from '@firsthand/contract/identifiers';
import { nearestName } from '@firsthand/contract/near-miss';
import * as z from 'zod';
import { defaultRateLimits, type RateLimits } from '../http/access/rate-limits.ts';

/** Thrown for invalid settings. The message has one line per setting, with its name and the expected form. */
export class BadConfiguration extends Error {
  override readonly name = 'BadConfiguration';
}

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

const millisecondsPerUnit = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const minPeriod = 10 * millisecondsPerUnit.s;
const maxPeriod = 365 * millisecondsPerUnit.d;

/** Parses a number with a unit, as milliseconds. */
const period = z
  .string()
  .regex(/^\d{1,6}[smhd]$/)
  .transform(
    (text) => Number(text.slice(0, -1)) * millisecondsPerUnit[text.slice(-1) as keyof typeof millisecondsPerUnit],
  )
  .pipe(z.number().min(minPeriod).max(maxPeriod));

/** An https origin, in the form in which browsers send it. */
const consoleOrigin = z
  .string()
  .max(300)
  .refine((text) => text.startsWith('https://') && URL.canParse(text) && new URL(text).origin === text);

/** A path such as `/` or `/some/path`. A missing trailing slash is added. */
const basePath = z
  .string()
  .regex(/^\/(?:(?!\.{1,2}(?:\/|$))[\w.~-]+\/?)*$/)
  .transform((path) => (path.endsWith('/') ? path : `${path}/`));

/**
 * First path segments that the server uses or reserves. TRACKER_PATH and API_PREFIX must not start with one of these:
 * they could collide with the server's own paths, and ad blockers match some of them.
 */
const reservedSegments = new Set([
  ...[
    'account',
    'import',
    'contact',
    'createContact',
    'event',
    'logEvent',
    'notification',
    'report',
    'subscriber',
    'user',
    'webhook',
    ...Object.values(pageNames),
  ],
  ...['b', 'projects', 'v1'],
  ...['.well-known', 'console', 'demo', 'docs', 'healthz', 'mcp', 'metrics', 'openapi.json', 'readyz'],
]);
const isReserved = (path: string): boolean => reservedSegments.has(path.split('/')[1] as string);

/** `/tracker.js` is always served; `/tracker.full.js` and `/tracker.<hash>.js` are different files. */
const trackerPath = z
  .string()
  .max(200)
  .regex(/^(?:\/(?!\.{1,2}\/)[\w.~-]+)+(?<=[^/]\.js)$/)
  .refine((path) => !isReserved(path) && !/^\/tracker\..*\.js$/.test(path));

const apiPrefix = z
  .string()
  .max(200)
  .pipe(basePath)
  .refine((path) => !isReserved(path));

const defaultSegmentPath = '/v1';
const segmentPath = z.union([
  z.literal('off').transform(() => undefined),
  z
    .string()
    .max(200)
    .pipe(basePath)
    .refine((path) => path === `${defaultSegmentPath}/` || (path !== '/' && !isReserved(path))),
]);

const isNetwork = (entry: string): boolean => {
  const [address = '', prefix, ...rest] = entry.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  return (
    bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
};

const networks = z
  .string()
  .transform((list) => list.split(',').map((entry) => entry.trim()))
  .refine((entries) => entries.every(isNetwork));

const rateNames = Object.keys(defaultRateLimits) as (keyof RateLimits)[];
const rate = new RegExp(`^(${rateNames.join('|')})=(\\d{1,9}(?:\\.\\d{1,6})?)/(\\d{1,9})$`);

const rateLimits = z.string().transform((list, context): RateLimits => {
  const limits = { ...defaultRateLimits };
  for (const entry of list.split(',')) {
    const [, name, perSecond, burst] = rate.exec(entry.trim()) ?? [];
    if (Number(perSecond) > 0 && Number(burst) > 0) {
      limits[name as keyof RateLimits] = { perSecond: Number(perSecond), burst: Number(burst) };
    } else context.addIssue('is not a rate');
  }
  return limits;
});

/**
 * Whether RFC 9116 allows this URI as a Contact. `contact` below excludes whitespace, so that it can't inject a line.
 */
const isContact = (uri: string): boolean => {
  if (/^mailto:[^\s@?]{1,64}@[^\s@?]{1,255}$/.test(uri) || /^tel:\+\d[\d.()-]{3,30}$/.test(uri)) return true;
  return /^https:\/\/[^/]/.test(uri) && URL.canParse(uri) && new URL(uri).username === '';
};
const contact = z
  .string()
  .regex(/^[!-~]{1,500}$/)
  .refine(isContact);

/** A mail server as a URL with host and, optionally, port, user name and password. */
const smtpURL = z
  .string()
  .max(1_000)
  .refine((text) => /^smtps?:\/\/[^/]/.test(text) && URL.canParse(text))
  .transform((text) => new URL(text))
  .refine(({ hostname, pathname, search, hash }) => hostname !== '' && /^\/?$/.test(pathname) && search + hash === '');

/** `name <address>`, or an address. */
const sender = z
  .string()
  .max(400)
  .regex(/^(?:[^\p{Cc}\p{Cf}<>"]{0,100}<[^\s<>"@,;]{1,64}@[\w.-]{1,190}>|[^\s<>"@,;]{1,64}@[\w.-]{1,190})$/u)
  .transform((text) => {
    const [, name = '', address = text] = /^(.*)<(.*)>$/.exec(text) ?? [];
    return { name: name.trim(), address };
  });

export interface Setting {
  readonly variable: string;
  readonly flag: string;
  /** The description in `--help`. */
  readonly means: string;
  /** Completes the sentence "PORT must be …". */
  readonly form: string;
  readonly schema: z.ZodType<unknown, string>;
  readonly fallback?: string;
  /** The setting that this one requires. */
  readonly needs?: string;
  /** Set if messages must not quote the value. */
  readonly secret?: true;
}

export const settings = {
  port: {
    variable: 'PORT',
    flag: '--port <number>',
    means: 'port to listen on; 0 picks a free port',
    form: 'a whole number from 0 to 65535',
    schema: wholeNumber(0, 65_535),
    fallback: '3000',
  },
  host: {
    variable: 'HOST',
    flag: '--host <name>',
    means: 'address to listen on; 0.0.0.0 for all IPv4 addresses, :: for all addresses',
    form: 'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0',
    schema: z.string().refine((host) => isIP(host) !== 0 || /^[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i.test(host)),
    fallback: '127.0.0.1',
  },
  basePath: {
    variable: 'BASE_PATH',
    flag: '--base-path <path>',
    means: 'path prefix for everything the server serves',
    form: 'a path that starts with a slash, such as / or /firsthand',
    schema: basePath,
    fallback: '/',
  },
  trackerPath: {
    variable: 'TRACKER_PATH',
    flag: '--tracker-path <path>',
    means: 'path of the script, below the base path; /tracker.js is also served',
    form:
      'a path of A-Z a-z 0-9 . _ ~ - and slashes, at most 200 characters, that starts with a slash, ends in .js and does not ' +
      'start like an API path, such as /main.js or /assets/shop.js',
    schema: trackerPath,
    fallback: '/main.js',
  },
  apiPrefix: {
    variable: 'API_PREFIX',
    flag: '--api-prefix <path>',
    means: "folder, below the base path, that the script sends to; by default, the script's own folder",
    form:
      'a path of A-Z a-z 0-9 . _ ~ - and slashes, at most 200 characters, that starts with a slash and does not start like an ' +
      'API path, such as / or /shop-data',
    schema: apiPrefix,
  },
  segmentPath: {
    variable: 'SEGMENT_PATH',
    flag: '--segment-path <path>',
    means: "folder, below the base path, at which Segment's HTTP API is served; off disables it",
    form: 'off, or a path that starts with a slash, such as /v1 or /segment/v1',
    schema: segmentPath,
    fallback: defaultSegmentPath,
  },
  docs: {
    variable: 'DOCS',
    flag: '--docs <on|off>',
    means: 'whether /docs/ serves the documentation',
    form: 'on or off',
    schema: z.enum(['on', 'off']),
    fallback: 'on',
  },
  databaseURL: {
    variable: 'DATABASE_URL',
    flag: '--database-url <url>',
    means: 'where to store the data: sqlite:<file>, sqlite::memory: (lost on exit), or postgres://…',
    form: 'sqlite:<file>, such as sqlite:./data/firsthand.db, sqlite::memory:, or postgres://user:password@host/database',
    schema: z.string().regex(/^(sqlite:|postgres(ql)?:\/\/)[^\0]+$/),
    fallback: 'sqlite:./data/firsthand.db',
    secret: true,
  },
  operatorToken: {
    variable: 'OPERATOR_TOKEN',
    flag: '--operator-token <token>',
    means: 'a token that may create accounts; none by default',
    form: 'operator_ followed by at least 22 random characters of A-Z a-z 0-9 _ -',
    schema: z.string().regex(/^operator_[\w-]{22,200}$/),
    secret: true,
  },
  trustProxy: {
    variable: 'TRUST_PROXY',
    flag: '--trust-proxy <list>',
    means: 'trusted proxies, whose X-Forwarded-For is used: IP addresses and networks, separated by commas',
    form: 'IP addresses and networks, separated by commas, such as 10.0.0.0/8,::1',
    schema: networks,
  },
  rateLimits: {
    variable: 'RATE_LIMIT',
    flag: '--rate-limit <list>',
    means: `rate limits, as name=perSecond/burst,…; names: ${rateNames.join(', ')}`,
    form: `name=perSecond/burst,… (such as address=200/2000) with names from: ${rateNames.join(', ')}`,
    schema: rateLimits,
  },
  geo: {
    variable: 'GEO',
    flag: '--geo <off|country>',
    means: "whether to label events with the visitor's country, from GEO_HEADER or GEO_FILE",
    form: 'off or country',
    schema: z.enum(['off', 'country']),
    fallback: 'off',
  },
  geoFile: {
    variable: 'GEO_FILE',
    flag: '--geo-file <file>',
    means: 'country database for GEO=country: an MMDB file, such as DB-IP Lite or GeoLite2',
    form: 'the path of an MMDB file',
    schema: z.string().regex(/^[^\0]{1,4096}$/),
    needs: 'geo',
  },
  geoHeader: {
    variable: 'GEO_HEADER',
    flag: '--geo-header <name>',
    means:
      "header in which the CDN sends the visitor's country, for GEO=country; read only from proxies listed in TRUST_PROXY",
    form: 'the name of a header, such as CF-IPCountry, CloudFront-Viewer-Country or X-Vercel-IP-Country',
    schema: z.string().regex(/^[a-z\d][a-z\d-]{0,99}$/i),
    needs: 'geo',
  },
  retentionDays: {
    variable: 'RETENTION_DAYS',
    flag: '--retention-days <days>',
    means: 'delete events received more than this many days ago; by default, events are kept forever',
    form: 'a whole number of days, 1 or more',
    schema: wholeNumber(1, 99_999),
  },
  accountBytes: {
    variable: 'ACCOUNT_BYTES',
    flag: '--account-bytes <bytes>',
    means: 'how much an account may store before new data is refused; unlimited by default',
    form: 'a whole number of bytes, 1 or more',
    schema: wholeNumber(1, 999_999_999_999_999),
  },
  backupDir: {
    variable: 'BACKUP_DIR',
    flag: '--backup-dir <folder>',
    means: 'folder for automatic backups of the SQLite file; no backups by default',
    form: 'the path of a folder',
    schema: z.string().regex(/^[^\0]{1,4096}$/),
  },
  backupEvery: {
    variable: 'BACKUP_EVERY',
    flag: '--backup-every <period>',
    means: 'how often to back up to BACKUP_DIR',
    form: 'a number with s, m, h or d, from 10s to 365d, such as 30m, 6h or 1d',
    schema: period,
    fallback: '1d',
    needs: 'backupDir',
  },
  backupKeep: {
    variable: 'BACKUP_KEEP',
    flag: '--backup-keep <count>',
    means: 'how many backups to keep in BACKUP_DIR; older backups of this file are deleted',
    form: 'a whole number from 1 to 10000',
    schema: wholeNumber(1, 10_000),
    fallback: '7',
    needs: 'backupDir',
  },
  webhookAllow: {
    variable: 'WEBHOOK_ALLOW',
    flag: '--webhook-allow <list>',
    means:
      'private networks that webhooks may send to, even without TLS: IP addresses and networks, separated by commas',
    form: 'IP addresses and networks, separated by commas, such as 10.0.0.0/8,::1',
    schema: networks,
  },
  reportsDir: {
    variable: 'REPORTS_DIR',
    flag: '--reports-dir <folder>',
    means:
      'folder for report files, which are rebuilt from the database if deleted; by default, next to the SQLite file',
    form: 'the path of a folder that holds nothing else',
    schema: z.string().regex(/^[^\0]{1,4096}$/),
  },
  reportsMemory: {
    variable: 'REPORTS_MEMORY',
    flag: '--reports-memory <megabytes>',
    means: "megabytes of memory that reports may use, in addition to the server's own",
    form: 'a whole number of megabytes from 128 to 1000000',
    schema: wholeNumber(128, 1_000_000),
    fallback: '256',
  },
  reportsThreads: {
    variable: 'REPORTS_THREADS',
    flag: '--reports-threads <count>',
    means: 'threads per report; at most the number of processors',
    form: 'a whole number from 1 to 256',
    schema: wholeNumber(1, 256),
    fallback: '2',
  },
  reportsSeconds: {
    variable: 'REPORTS_SECONDS',
    flag: '--reports-seconds <seconds>',
    means: 'time limit of a report; finding contacts and reading new events beforehand can each take just as long',
    form: 'a whole number of seconds from 1 to 240',
    schema: wholeNumber(1, 240),
    fallback: '10',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    flag: '--metrics-token <token>',
    means: 'token for /metrics, sent as Authorization: Bearer; by default, no token is accepted',
    form: 'at least 22 random characters of A-Z a-z 0-9 _ -',
    schema: z.string().regex(/^[\w-]{22,200}$/),
    secret: true,
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    flag: '--metrics-port <number>',
    means: 'port on HOST that serves /metrics without a token; 0 picks a free port; none by default',
    form: 'a whole number from 0 to 65535',
    schema: wholeNumber(0, 65_535),
  },
  consoleOrigin: {
    variable: 'CONSOLE_ORIGIN',
    flag: '--console-origin <origin>',
    means:
      'origin of the console, on a host that serves nothing else; by default, only this machine can use the console',
    form: 'an https origin, such as https://firsthand.shop.example',
    schema: consoleOrigin,
  },
  smtpURL: {
    variable: 'SMTP_URL',
    flag: '--smtp-url <url>',
    means: 'mail server for digests, alerts and confirmations; without it, no mails are sent',
    form:
      'smtp://host:port (STARTTLS) or smtps://host:port (TLS), with user:password@ before the host if the server requires ' +
      'them, such as smtp://reports:secret@mail.shop.example:587',
    schema: smtpURL,
    needs: 'mailFrom',
    secret: true,
  },
  mailFrom: {
    variable: 'MAIL_FROM',
    flag: '--mail-from <address>',
    means: 'sender of the mails',
    form: 'an e-mail address, or a name and an address, such as Firsthand <reports@shop.example>',
    schema: sender,
    needs: 'smtpURL',
  },
  securityContact: {
    variable: 'SECURITY_CONTACT',
    flag: '--security-contact <uri>',
    means:
      'contact for vulnerability reports, published in /.well-known/security.txt; by default, there is no such file',
    form: 'a URI such as mailto:security@shop.example, https://shop.example/security or tel:+44-20-7946-0000',
    schema: contact,
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    flag: '--log-level <level>',
    means: 'minimum level of log lines (standard error): trace, debug, info, warn, error, fatal or silent',
    form: 'one of: trace, debug, info, warn, error, fatal, silent',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;
type ValueOf<One extends Setting> = z.output<One['schema']> | (One extends { fallback: string } ? never : undefined);
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

/** Flag values, by setting name. */
export type Flags = { readonly [Name in SettingName]?: string | undefined };

/** Returns `--port` for `--port <number>`. */
const flagName = ({ flag }: Setting): string => flag.split(' ')[0] as string;

const describeProblem = (setting: Setting, value: string): string => {
  const { variable, form, secret } = setting;
  return `${variable} (or ${flagName(setting)}) must be ${form}${secret ? '' : `; not ${JSON.stringify(value.slice(0, 80))}`}`;
};

/**
 * Reads and checks the named settings. An empty variable counts as absent. Throws one BadConfiguration for all invalid
 * settings.
 */
export const readSettings = <Name extends SettingName>(
  names: readonly Name[],
  env: Readonly<Record<string, string | undefined>>,
  flags: Flags = {},
): Pick<Config, Name> => {
  const problems: string[] = [];
  const entries = names.map((name) => {
    const definition: Setting = settings[name];
    const value = flags[name] ?? (env[definition.variable] || definition.fallback);
    if (value === undefined) return [name, undefined];
    const result = definition.schema.safeParse(value);
    if (!result.success) problems.push(describeProblem(definition, value));
    return [name, result.data];
  });
  if (problems.length > 0) throw new BadConfiguration(problems.join('\n'));
  return Object.fromEntries(entries) as Pick<Config, Name>;
};

/** Returns a message for each setting that has no effect because the setting that it requires is absent. */
const findIneffective = (env: Readonly<Record<string, string | undefined>>, flags: Flags = {}): string[] => {
  const isSet = (name: SettingName) => Boolean(flags[name] ?? env[settings[name].variable]);
  const names = Object.keys(settings) as SettingName[];
  return names.flatMap((name) => {
    const { variable, needs }: Setting = settings[name];
    if (needs === undefined || !isSet(name) || isSet(needs as SettingName)) return [];
    const required = settings[needs as SettingName];
    return [`${variable} has no effect without ${required.variable} (or ${flagName(required)}): set both, or neither`];
  });
};

/** Variables that the program reads but that are not server settings. */
const otherVariables = new Set(['DEBUG', 'FIRSTHAND_TOKEN', 'WORKERS']);

/**
 * Returns a warning for each variable whose name resembles a setting's: a misspelled setting is otherwise ignored
 * silently.
 */
export const findMisspelledSettings = (env: Readonly<Record<string, string | undefined>>): string[] => {
  const variables: string[] = Object.values(settings).map(({ variable }) => variable);
  return Object.keys(env).flatMap((name) => {
    if (variables.includes(name) || otherVariables.has(name)) return [];
    const nearest = nearestName(name, variables);
    return nearest === undefined ? [] : [`${name} is not a setting and is ignored. Did you mean ${nearest}?`];
  });
};

/**
 * Reads all settings. Also throws BadConfiguration for settings that contradict each other and for WORKERS, which was
 * removed (decisions/0010).
 */
export const readConfig = (env: Readonly<Record<string, string | undefined>>, flags?: Flags): Config => {
  const { WORKERS: workers = '' } = env;
  // 1 was the default and means one process, which is still how the server runs.
  if (workers !== '' && workers !== '1') {
    throw new BadConfiguration(
      `WORKERS is ${JSON.stringify(workers.slice(0, 80))}, but this setting was removed: one process handles all requests; ` +
        'unset it. To use more processors, run several servers over one PostgreSQL database (DATABASE_URL=postgres://…)',
    );
  }
  const config = readSettings(Object.keys(settings) as SettingName[], env, flags);
  const ineffective = findIneffective(env, flags);
  // The required setting might be present but misspelled.
  if (ineffective.length > 0) throw new BadConfiguration([...ineffective, ...findMisspelledSettings(env)].join('\n'));
  if (config.backupDir !== undefined && !/^sqlite:(?!:memory:$)/.test(config.databaseURL)) {
    throw new BadConfiguration(
      'BACKUP_DIR (or --backup-dir) needs a SQLite file in DATABASE_URL; back up a PostgreSQL database with pg_dump or pg_basebackup',
    );
  }
  if (config.geo === 'country' && config.geoFile === undefined && config.geoHeader === undefined) {
    throw new BadConfiguration(
      'GEO (or --geo) is country: GEO_FILE (or --geo-file) must name an MMDB file with countries, or GEO_HEADER (or --geo-header) ' +
        "the header in which the CDN sends the visitor's country",
    );
  }
  if (config.geoHeader !== undefined && config.trustProxy === undefined) {
    throw new BadConfiguration(
      'GEO_HEADER (or --geo-header) requires TRUST_PROXY (or --trust-proxy): any client can send the header, so it is read only ' +
        'from trusted proxies',
    );
  }
  if (config.smtpURL !== undefined && config.consoleOrigin === undefined) {
    throw new BadConfiguration(
      'SMTP_URL (or --smtp-url) requires CONSOLE_ORIGIN (or --console-origin): mails link to the console, and to a page that ' +
        'unsubscribes their recipient',
    );
  }
  if (config.metricsPort !== undefined && config.metricsPort !== 0 && config.metricsPort === config.port) {
    throw new BadConfiguration(
      `METRICS_PORT (or --metrics-port) and PORT (or --port) are both ${config.port}: set METRICS_PORT to another port, or set ` +
        'METRICS_TOKEN instead to serve /metrics on PORT',
    );
  }
  return config;
};
