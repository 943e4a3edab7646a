/** The settings: environment variables, each with a flag of the same name, which takes precedence. */
import { isIP } from 'node:net';
import { pageNames } from '@firsthand/contract/identifiers';
import { nearestName } from '@firsthand/contract/near-miss';
import * as z from 'zod';
import { defaultRateLimits, type RateLimits } from '../http/access/rate-limits.ts';

/** One or more settings are invalid. The message has a line for each, with its name and the expected form. */
export class BadConfiguration extends Error {
  override readonly name = 'BadConfiguration';
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

const millisecondsOf = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const leastPeriod = 10 * millisecondsOf.s;
const maxPeriod = 365 * millisecondsOf.d;

/** A number and a unit, in milliseconds. */
const period = z
  .string()
  .regex(/^\d{1,6}[smhd]$/)
  .transform((text) => Number(text.slice(0, -1)) * millisecondsOf[text.slice(-1) as keyof typeof millisecondsOf])
  .pipe(z.number().min(leastPeriod).max(maxPeriod));

/** An origin in the form in which browsers send it. */
const consoleOrigin = z
  .string()
  .max(300)
  .refine((text) => text.startsWith('https://') && URL.canParse(text) && new URL(text).origin === text);

/** A path such as `/` or `/some/path`. A missing slash at its end is added. */
const basePath = z
  .string()
  .regex(/^\/(?:(?!\.{1,2}(?:\/|$))[\w.~-]+\/?)*$/)
  .transform((path) => (path.endsWith('/') ? path : `${path}/`));

/**
 * The first parts of the server's paths. TRACKER_PATH and API_PREFIX may not begin with them: their paths could clash, and blockers
 * know some. The second line is for what is no operation, or may come.
 */
const ownParts = new Set([
  ...[
    'account',
    'contact',
    'createContact',
    'event',
    'logEvent',
    'report',
    'subscriber',
    'user',
    ...Object.values(pageNames),
  ],
  ...['.well-known', 'console', 'demo', 'docs', 'healthz', 'metrics', 'openapi.json', 'readyz'],
]);
const beginsOwnPath = (path: string): boolean => ownParts.has(path.split('/')[1] as string);

/** `/tracker.js` is always there; `/tracker.full.js` and `/tracker.<hash>.js` are other files. */
const trackerPath = z
  .string()
  .max(200)
  .regex(/^(?:\/(?!\.{1,2}\/)[\w.~-]+)+(?<=[^/]\.js)$/)
  .refine((path) => !beginsOwnPath(path) && !/^\/tracker\..*\.js$/.test(path));

const apiPrefix = z
  .string()
  .max(200)
  .pipe(basePath)
  .refine((path) => !beginsOwnPath(path));

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
    } else context.addIssue('is no rate');
  }
  return limits;
});

/** A URI as RFC 9116 takes it. The characters are those of a URI, so that it can't add a line. */
const isContact = (uri: string): boolean => {
  if (/^mailto:[^\s@?]{1,64}@[^\s@?]{1,255}$/.test(uri) || /^tel:\+\d[\d.()-]{3,30}$/.test(uri)) return true;
  return /^https:\/\/[^/]/.test(uri) && URL.canParse(uri) && new URL(uri).username === '';
};
const contact = z
  .string()
  .regex(/^[!-~]{1,500}$/)
  .refine(isContact);

export interface Setting {
  readonly variable: string;
  readonly flag: string;
  /** For `--help`. */
  readonly means: string;
  /** Ends the sentence "PORT must be …". */
  readonly form: string;
  readonly schema: z.ZodType<unknown, string>;
  readonly fallback?: string;
  /** The name of the setting without which this one has no effect. */
  readonly needs?: string;
  /** Set if messages must not quote the value. */
  readonly secret?: true;
}

export const settings = {
  port: {
    variable: 'PORT',
    flag: '--port <number>',
    means: 'port to listen on; 0 takes any free one',
    form: 'a whole number from 0 to 65535',
    schema: wholeNumber(0, 65_535),
    fallback: '3000',
  },
  host: {
    variable: 'HOST',
    flag: '--host <name>',
    means: 'address to listen on; 0.0.0.0 for every IPv4 address, :: for every address',
    form: 'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0',
    schema: z.string().refine((host) => isIP(host) !== 0 || /^[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i.test(host)),
    fallback: '127.0.0.1',
  },
  basePath: {
    variable: 'BASE_PATH',
    flag: '--base-path <path>',
    means: 'path below which everything is served',
    form: 'a path that begins with a slash, such as / or /firsthand',
    schema: basePath,
    fallback: '/',
  },
  trackerPath: {
    variable: 'TRACKER_PATH',
    flag: '--tracker-path <path>',
    means: 'path of the script, below the base path; /tracker.js is served as well',
    form:
      'a path of A-Z a-z 0-9 . _ ~ - and slashes, at most 200 characters, that begins with a slash, ends in .js and does not ' +
      'begin like a path of the API, such as /main.js or /assets/shop.js',
    schema: trackerPath,
    fallback: '/main.js',
  },
  apiPrefix: {
    variable: 'API_PREFIX',
    flag: '--api-prefix <path>',
    means: 'folder, below the base path, that the script sends to; the folder of the script unless given',
    form:
      'a path of A-Z a-z 0-9 . _ ~ - and slashes, at most 200 characters, that begins with a slash and does not begin like a path ' +
      'of the API, such as / or /shop-data',
    schema: apiPrefix,
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
    means: 'where the data is kept: sqlite:<file>, sqlite::memory: to forget it at the end, or postgres://…',
    form: 'sqlite:<file>, such as sqlite:./data/firsthand.db, sqlite::memory:, or postgres://user:password@host/database',
    schema: z.string().regex(/^(sqlite:|postgres(ql)?:\/\/)[^\0]+$/),
    fallback: 'sqlite:./data/firsthand.db',
    secret: true,
  },
  operatorToken: {
    variable: 'OPERATOR_TOKEN',
    flag: '--operator-token <token>',
    means: 'a token that may create accounts; none unless given',
    form: 'operator_ followed by at least 22 random characters of A-Z a-z 0-9 _ -',
    schema: z.string().regex(/^operator_[\w-]{22,200}$/),
    secret: true,
  },
  trustProxy: {
    variable: 'TRUST_PROXY',
    flag: '--trust-proxy <list>',
    means: 'proxies whose X-Forwarded-For is believed: IP addresses and networks, separated by commas',
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
    means: "whether events get the visitor's country as a label, from GEO_HEADER or GEO_FILE",
    form: 'off or country',
    schema: z.enum(['off', 'country']),
    fallback: 'off',
  },
  geoFile: {
    variable: 'GEO_FILE',
    flag: '--geo-file <file>',
    means: 'database of countries for GEO=country: an MMDB file, such as DB-IP Lite or GeoLite2',
    form: 'the path of an MMDB file',
    schema: z.string().regex(/^[^\0]{1,4096}$/),
    needs: 'geo',
  },
  geoHeader: {
    variable: 'GEO_HEADER',
    flag: '--geo-header <name>',
    means:
      "header in which the CDN sends the visitor's country, for GEO=country; only proxies of TRUST_PROXY are believed",
    form: 'the name of a header, such as CF-IPCountry, CloudFront-Viewer-Country or X-Vercel-IP-Country',
    schema: z.string().regex(/^[a-z\d][a-z\d-]{0,99}$/i),
    needs: 'geo',
  },
  retentionDays: {
    variable: 'RETENTION_DAYS',
    flag: '--retention-days <days>',
    means: 'delete events that were received longer ago than this; kept for ever unless given',
    form: 'a whole number of days, 1 or more',
    schema: wholeNumber(1, 99_999),
  },
  accountBytes: {
    variable: 'ACCOUNT_BYTES',
    flag: '--account-bytes <bytes>',
    means: 'how much an account may store before its new data is refused; no limit unless given',
    form: 'a whole number of bytes, 1 or more',
    schema: wholeNumber(1, 999_999_999_999_999),
  },
  backupDir: {
    variable: 'BACKUP_DIR',
    flag: '--backup-dir <folder>',
    means: 'folder for backups of the SQLite file, which the server makes by itself; none unless given',
    form: 'the path of a folder',
    schema: z.string().regex(/^[^\0]{1,4096}$/),
  },
  backupEvery: {
    variable: 'BACKUP_EVERY',
    flag: '--backup-every <period>',
    means: 'how often a backup is made in BACKUP_DIR',
    form: 'a number with s, m, h or d, from 10s to 365d, such as 30m, 6h or 1d',
    schema: period,
    fallback: '1d',
    needs: 'backupDir',
  },
  backupKeep: {
    variable: 'BACKUP_KEEP',
    flag: '--backup-keep <count>',
    means: 'how many backups stay in BACKUP_DIR; older ones of this file are removed',
    form: 'a whole number from 1 to 10000',
    schema: wholeNumber(1, 10_000),
    fallback: '7',
    needs: 'backupDir',
  },
  reportsDir: {
    variable: 'REPORTS_DIR',
    flag: '--reports-dir <folder>',
    means:
      'folder for the files of reports, which are made from the database again when they are gone; beside the SQLite file unless given',
    form: 'the path of a folder that holds nothing else',
    schema: z.string().regex(/^[^\0]{1,4096}$/),
  },
  reportsMemory: {
    variable: 'REPORTS_MEMORY',
    flag: '--reports-memory <megabytes>',
    means: 'megabytes of memory that reports may use, beside the server',
    form: 'a whole number of megabytes from 128 to 1000000',
    schema: wholeNumber(128, 1_000_000),
    fallback: '256',
  },
  reportsThreads: {
    variable: 'REPORTS_THREADS',
    flag: '--reports-threads <count>',
    means: 'threads that a report uses; no more than there are processors',
    form: 'a whole number from 1 to 256',
    schema: wholeNumber(1, 256),
    fallback: '2',
  },
  reportsSeconds: {
    variable: 'REPORTS_SECONDS',
    flag: '--reports-seconds <seconds>',
    means:
      'how long a report may take; reading what is new in its account, and the contacts that it names, may take as long each',
    form: 'a whole number of seconds from 1 to 240',
    schema: wholeNumber(1, 240),
    fallback: '10',
  },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    flag: '--metrics-token <token>',
    means: 'serves /metrics to requests with this token as Authorization: Bearer; to nobody unless given',
    form: 'at least 22 random characters of A-Z a-z 0-9 _ -',
    schema: z.string().regex(/^[\w-]{22,200}$/),
    secret: true,
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    flag: '--metrics-port <number>',
    means: 'port of HOST on which /metrics is served without a token; 0 takes any free one; none unless given',
    form: 'a whole number from 0 to 65535',
    schema: wholeNumber(0, 65_535),
  },
  consoleOrigin: {
    variable: 'CONSOLE_ORIGIN',
    flag: '--console-origin <origin>',
    means: 'the origin of the console, on a host that serves nothing else; it is for this machine only unless given',
    form: 'an origin with https, such as https://firsthand.shop.example',
    schema: consoleOrigin,
  },
  securityContact: {
    variable: 'SECURITY_CONTACT',
    flag: '--security-contact <uri>',
    means: 'whom /.well-known/security.txt names for reports of vulnerabilities; it is not served unless given',
    form: 'a URI such as mailto:security@shop.example, https://shop.example/security or tel:+44-20-7946-0000',
    schema: contact,
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    flag: '--log-level <level>',
    means: 'least important lines to log (standard error): trace, debug, info, warn, error, fatal or silent',
    form: 'one of: trace, debug, info, warn, error, fatal, silent',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;
/** A setting without a fallback may be undefined. */
type ValueOf<One extends Setting> = z.output<One['schema']> | (One extends { fallback: string } ? never : undefined);
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

/** The values of flags, by the name of the setting. */
export type Flags = { readonly [Name in SettingName]?: string | undefined };

/** `--port` of `--port <number>`. */
const flagName = ({ flag }: Setting): string => flag.split(' ')[0] as string;

const complain = (setting: Setting, given: string): string => {
  const { variable, form, secret } = setting;
  return `${variable} (or ${flagName(setting)}) must be ${form}${secret ? '' : `; not ${JSON.stringify(given.slice(0, 80))}`}`;
};

/**
 * Reads and checks the named settings. An empty variable counts as absent. Throws BadConfiguration, which names all invalid
 * settings at once.
 */
export const readSettings = <Name extends SettingName>(
  names: readonly Name[],
  env: Readonly<Record<string, string | undefined>>,
  flags: Flags = {},
): Pick<Config, Name> => {
  const problems: string[] = [];
  const entries = names.map((name) => {
    const definition: Setting = settings[name];
    const given = flags[name] ?? (env[definition.variable] || definition.fallback);
    if (given === undefined) return [name, undefined];
    const result = definition.schema.safeParse(given);
    if (!result.success) problems.push(complain(definition, given));
    return [name, result.data];
  });
  if (problems.length > 0) throw new BadConfiguration(problems.join('\n'));
  return Object.fromEntries(entries) as Pick<Config, Name>;
};

/** Lists settings that are given but have no effect, because the one that they need is absent. */
const findIneffective = (env: Readonly<Record<string, string | undefined>>, flags: Flags = {}): string[] => {
  const isGiven = (name: SettingName) => Boolean(flags[name] ?? env[settings[name].variable]);
  const names = Object.keys(settings) as SettingName[];
  return names.flatMap((name) => {
    const { variable, needs }: Setting = settings[name];
    if (needs === undefined || !isGiven(name) || isGiven(needs as SettingName)) return [];
    const needed = settings[needs as SettingName];
    return [`${variable} has no effect without ${needed.variable} (or ${flagName(needed)}): set both, or neither`];
  });
};

/** Variables that the program reads and that are no settings of a server. */
const otherVariables = new Set(['DEBUG', 'FIRSTHAND_TOKEN', 'WORKERS']);

/** Lists variables that resemble a setting's name, as complete sentences: a misspelled setting would be ignored silently. */
export const findMisspelledSettings = (env: Readonly<Record<string, string | undefined>>): string[] => {
  const variables: string[] = Object.values(settings).map(({ variable }) => variable);
  return Object.keys(env).flatMap((name) => {
    if (variables.includes(name) || otherVariables.has(name)) return [];
    const nearest = nearestName(name, variables);
    return nearest === undefined ? [] : [`${name} is not a setting and is ignored. Did you mean ${nearest}?`];
  });
};

/**
 * Reads all settings of a server. Throws BadConfiguration also for WORKERS, which was removed (decisions/0010), and for settings that
 * contradict each other.
 */
export const readConfig = (env: Readonly<Record<string, string | undefined>>, flags?: Flags): Config => {
  const { WORKERS: workers = '' } = env;
  // 1 was the default, and means one process, as now.
  if (workers !== '' && workers !== '1') {
    throw new BadConfiguration(
      `WORKERS is ${JSON.stringify(workers.slice(0, 80))}, but this setting was removed: one process handles all requests; ` +
        'unset it. To use more processors, run several servers over one PostgreSQL database (DATABASE_URL=postgres://…)',
    );
  }
  const config = readSettings(Object.keys(settings) as SettingName[], env, flags);
  const ineffective = findIneffective(env, flags);
  // The setting that another one needs may be there, but misspelled.
  if (ineffective.length > 0) throw new BadConfiguration([...ineffective, ...findMisspelledSettings(env)].join('\n'));
  if (config.backupDir !== undefined && !/^sqlite:(?!:memory:$)/.test(config.databaseURL)) {
    throw new BadConfiguration(
      'BACKUP_DIR (or --backup-dir) is for a SQLite file, and DATABASE_URL names none; copy a PostgreSQL database with pg_dump or pg_basebackup',
    );
  }
  if (config.geo === 'country' && config.geoFile === undefined && config.geoHeader === undefined) {
    throw new BadConfiguration(
      'GEO (or --geo) is country: GEO_FILE (or --geo-file) must name an MMDB file with countries, or GEO_HEADER (or --geo-header) a ' +
        "header in which the CDN sends the visitor's country",
    );
  }
  if (config.geoHeader !== undefined && config.trustProxy === undefined) {
    throw new BadConfiguration(
      'GEO_HEADER (or --geo-header) is read only from a proxy that TRUST_PROXY (or --trust-proxy) names, because every client can ' +
        'send it: set TRUST_PROXY',
    );
  }
  if (config.metricsPort !== undefined && config.metricsPort !== 0 && config.metricsPort === config.port) {
    throw new BadConfiguration(
      `METRICS_PORT (or --metrics-port) and PORT (or --port) are both ${config.port}: metrics need a port of their own; with ` +
        'METRICS_TOKEN instead, PORT serves them too',
    );
  }
  return config;
};
