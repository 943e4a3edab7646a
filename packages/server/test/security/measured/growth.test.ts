/**
 * Tests that no request's time grows faster than its size, with strings that slow down regular expressions, in each
 * field, name, header and path.
 */
import { limits } from '@firsthand/contract/limits';
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAddressMasker } from '../../../src/http/console/share-links/hidden-addresses.ts';
import { createPersonSearch } from '../../../src/store/rules/refused/names.ts';
import { createRandom, times } from '../../tools/counts.ts';
import { report } from '../../tools/report.ts';
import { openService, type Service } from '../tools/service.ts';

/** The time below which a request with the largest accepted input is harmless, no matter how its time grows. */
const floorMilliseconds = 40;
const maxGrowth = 2.5;
/** The minimum number of measurements per string, and the maximum if its time seems to grow too fast. */
const minRounds = 3;
const maxRounds = 24;
const measurementCount = times({ quick: 500, full: 1_000_000 });

const repeat = (part: string) => (length: number) =>
  part.repeat(Math.ceil(length / part.length)).slice(0, Math.max(1, length));
const repeatAndEnd = (part: string, end: string) => (length: number) => repeat(part)(length - end.length) + end;

/** Functions, by name, that create a string of any length. */
const shapes: Readonly<Record<string, (length: number) => string>> = {
  ...Object.fromEntries(
    [
      'a',
      '-',
      '_',
      '0',
      '9',
      ' ',
      '\t',
      '.',
      ',',
      ';',
      '@',
      '%',
      '%41',
      '?',
      '://',
      '::',
      '[',
      '{"a":',
      '"',
      '\\',
      'é',
      '\u0301',
    ].map((part) => [JSON.stringify(part), repeat(part)]),
  ),
  'spaces in words': repeatAndEnd(' ', 'x'),
  'a word with @ at its end': repeatAndEnd('a', '@'),
  'a domain with many labels': (length) => `a@${repeat('a.')(length)}com`,
  'a long domain': (length) => `https://${repeat('漢字仮名交文')(length)}.com`,
  'an address at a long domain': (length) => `a@${repeat('漢字仮名交文')(length)}.com`,
  'combining marks in the wrong order': (length) => `a${'\u0301'.repeat(length / 2)}${'\u0316'.repeat(length / 2)}`,
  placeholders: repeatAndEnd('undefined', 'x'),
  'long numbers': (length) => `[${repeat(`1${'0'.repeat(390)}1,`)(length)}1]`,
  'short numbers': (length) => `[${repeat('1e-9,')(length)}1]`,
  lists: (length) => `[${repeat('[],')(length)}1]`,
  // The names are long, because JSON.parse alone takes 2.6 times as long for 100,000 short names as for 50,000.
  members: (length) =>
    `{${Array.from({ length: length / 29 }, (_, nth) => `"a-member-with-a-name-${nth.toString(36)}":1`).join()}}`,
  parameters: repeat('a=b&'),
  'a header with many parameters': repeat('a;q=0.1,'),
  hops: repeat('127.0.0.1,'),
  tokens: repeat('browser_'),
};

interface Target {
  readonly name: string;
  /** The maximum length of a string in this place. */
  readonly maxLength: number;
  readonly request: (text: string) => readonly [path: string, init: RequestInit];
}

const formTypes = {
  urlencoded: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=b',
} as const;
const asMultipart = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`;

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const encodeText = (text: string) => encodeURIComponent(text.toWellFormed());
const post = (path: string, body: string, type = 'application/json') =>
  [path, { method: 'POST', body, headers: { 'Content-Type': type } }] as const;

const listTargets = (name: OperationName): Target[] => {
  const { input, methods, paths, body, tokens } = operations[name] as Operation;
  const path = paths[0] as string;
  const fields = Object.keys((input as unknown as { shape: object }).shape);
  const tokenUUID = service.tokens[tokens[0] as keyof typeof service.tokens];
  const maxLength = (body === 'batch' ? limits.batchBodyBytes : limits.bodyBytes) - 600;
  const inQuery = (field: string): Target => ({
    name: `${name}?${field}`,
    maxLength: 8_000,
    // Limits the length, because some characters are encoded as nine characters in the URL.
    request: (text) => [
      `${path}?tokenUUID=${tokenUUID}&${field}=${encodeText(text).slice(0, 7_900).replace(/%\w?$/, '')}`,
      {},
    ],
  });
  const inBody = (field: string): Target => ({
    name: `${name} ${field}`,
    maxLength,
    request: (text) => post(path, JSON.stringify({ tokenUUID, [field]: text })),
  });
  if (!methods.includes('POST')) return fields.map(inQuery);
  const asText = (form: keyof typeof formTypes, field: string): Target => ({
    name: `${name} ${field} (${form})`,
    maxLength,
    request: (text) =>
      post(path, form === 'multipart' ? asMultipart(field, text) : `${field}=${text}`, formTypes[form]),
  });
  return [
    ...fields.flatMap((field) => [inBody(field), asText('urlencoded', field)]),
    { name: `${name}, a name`, maxLength, request: (text) => post(path, JSON.stringify({ tokenUUID, [text]: 1 })) },
    { name: `${name}, a name of a form`, maxLength, request: (text) => post(path, text, formTypes.urlencoded) },
    { name: `${name}, JSON`, maxLength, request: (text) => post(path, text) },
    {
      name: `${name}, JSON in an object`,
      maxLength,
      request: (text) => post(path, `{"tokenUUID":"${tokenUUID}","a":${text}}`),
    },
    asText('multipart', 'eventID'),
    {
      name: `${name}, a name of a multipart form`,
      maxLength,
      request: (text) => post(path, asMultipart(text, ''), formTypes.multipart),
    },
    {
      name: `${name}, a file's name`,
      maxLength,
      request: (text) => post(path, asMultipart(`${text}"; filename="x`, ''), formTypes.multipart),
    },
    {
      name: `${name}, a header of a multipart form`,
      maxLength,
      request: (text) =>
        post(path, asMultipart('a', '').replace('\r\n\r\n', `\r\n${text}\r\n\r\n`), formTypes.multipart),
    },
  ];
};

const listEntryTargets = (): Target[] => {
  const tokenUUID = service.tokens.browser;
  const inEntry = (field: string): Target => ({
    name: `logEvents event[0].${field}`,
    maxLength: limits.batchBodyBytes - 600,
    request: (text) => post('/event/logEvents', JSON.stringify({ tokenUUID, event: [{ eventID: 1, [field]: text }] })),
  });
  const inAttribute = (field: string): Target => ({
    name: `logEvent eventAttrArray[0].${field}`,
    maxLength: limits.bodyBytes - 600,
    request: (text) =>
      post(
        '/event/logEvent',
        JSON.stringify({ tokenUUID, userUUID: 'visitor-0123456789', eventID: 1, eventAttrArray: [{ [field]: text }] }),
      ),
  });
  return [
    ...['userUUID', 'contactUUID', 'eventID', 'eventUUID', 'eventTime', 'eventAttrArray', 'a'].map(inEntry),
    ...['attrID', 'attrValue', 'a'].map(inAttribute),
  ];
};

const headerNames = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Cookie',
  'If-None-Match',
  'Last-Event-ID',
  'Origin',
  'Purpose',
  'Referer',
  'Sec-CH-UA',
  'Sec-CH-UA-Mobile',
  'Sec-CH-UA-Platform',
  'Sec-Fetch-Site',
  'User-Agent',
  'X-Forwarded-For',
];
/** Just below Node's limit for the total size of headers (`maxHeaderSize` in application.ts). */
const headerBytes = 32_000;
const isHeader = (text: string) => !/[^\t\x20-\x7e\x80-\xff]/.test(text);

const listHeaderTargets = (): Target[] =>
  headerNames.flatMap((header) =>
    ['/event/logEvent', '/event/logEvents', '/tracker.js', '/demo', '/nowhere'].map((path) => ({
      name: `${header} at ${path}`,
      maxLength: headerBytes,
      request: (text: string) => {
        const value = header === 'Content-Type' ? `multipart/form-data; boundary=b;${text}` : text;
        const tokenUUID = service.tokens.browser;
        const headers = { ...(header !== 'Content-Type' && { 'Content-Type': 'application/json' }), [header]: value };
        return path.startsWith('/event')
          ? [
              path,
              {
                method: 'POST',
                headers,
                body: JSON.stringify({ tokenUUID, eventID: 1, userUUID: 'visitor-0123456789' }),
              },
            ]
          : [path, { headers }];
      },
    })),
  );

const pathTargets: Target[] = ['/', '/event/logEvent/', '/event/logEvent?', '/tracker.js?'].map((path) => ({
  name: `path ${path}`,
  maxLength: headerBytes,
  request: (text) => [path + encodeURI(text.toWellFormed()).replaceAll('%25', '%').slice(0, headerBytes), {}],
}));

type Send = (path: string, init: RequestInit) => Promise<unknown>;

/** Returns a request's CPU milliseconds on all threads. */
const measureCost = async (send: Send, { request }: Target, text: string): Promise<number> => {
  const [path, init] = request(text);
  const before = process.cpuUsage();
  await send(path, init);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

/**
 * Returns the factor by which the time grows when the text doubles, or undefined if the time is negligible. Averages
 * two doublings, because one of them can coincide with the growth of a hash table. Takes minima of alternating
 * measurements, because other load only adds to them.
 */
const measureGrowth = async (
  send: Send,
  target: Target,
  shape: (length: number) => string,
): Promise<number | undefined> => {
  const whole = shape(target.maxLength);
  const quarter = shape(Math.floor(target.maxLength / 4));
  let wholeCost = Infinity;
  let quarterCost = Infinity;
  for (let round = 1; round <= maxRounds; round += 1) {
    wholeCost = Math.min(wholeCost, await measureCost(send, target, whole));
    if (wholeCost < floorMilliseconds) return undefined;
    quarterCost = Math.min(quarterCost, await measureCost(send, target, quarter));
    if (round >= minRounds && wholeCost <= maxGrowth ** 2 * quarterCost) break;
  }
  return Math.sqrt(wholeCost / quarterCost);
};

const createSender =
  (request: (path: string, init: RequestInit) => Response | Promise<Response>): Send =>
  async (path, init) => {
    try {
      const response = await request(path, init);
      await response.body?.cancel();
    } catch (error) {
      // Skips requests that undici refuses to send.
      if (!(error instanceof TypeError)) throw error;
    }
  };

test('handles every field, name, header and path in time that grows no faster than its length', {
  timeout: times({ quick: 300_000, full: 3_600_000 }),
}, async (context) => {
  const targets = [
    ...operationNames.flatMap(listTargets),
    ...listEntryTargets(),
    ...pathTargets,
    ...listHeaderTargets(),
  ];
  const random = createRandom(41);
  const measurements = targets
    .flatMap((target) => Object.entries(shapes).map(([name, shape]) => ({ target, name, shape })))
    .filter(({ target, shape }) => !/ at \//.test(target.name) || isHeader(shape(1_000)))
    .map((one) => ({ one, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, measurementCount)
    .map(({ one }) => one);
  const send = createSender((path, init) => service.app.request(path, init));
  const tooFast: string[] = [];
  let longest = 0;
  let greatest = 0;
  for (const { target, name, shape } of measurements) {
    const began = performance.now();
    const growth = await measureGrowth(send, target, shape);
    longest = Math.max(longest, performance.now() - began);
    if (growth === undefined) continue;
    greatest = Math.max(greatest, growth);
    if (growth > maxGrowth) tooFast.push(`${target.name}, ${name}: ${growth.toFixed(1)} times`);
  }
  expect(tooFast).toEqual([]);

  const slow = createSender(async (path, init) => {
    new Headers(init.headers).get('Accept-Encoding')?.split(/\s*;\s*/);
    return service.app.request(path, init);
  });
  const weakened = listHeaderTargets().find(({ name }) => name === 'Accept-Encoding at /tracker.js') as Target;
  const growth = await measureGrowth(
    slow,
    { ...weakened, maxLength: 20_000 },
    (length) => `x${'\t'.repeat(length - 2)}y`,
  );
  expect(growth).toBeGreaterThan(maxGrowth);
  report(context, {
    fault: 'slow patterns',
    count: `${measurements.length} of ${targets.length} fields, names, headers and paths × ${Object.keys(shapes).length} texts`,
    result: `0 take more than ${maxGrowth} times as long for twice the length; at most ${greatest.toFixed(1)} times`,
    weakened: `splits a header with a slow pattern: ${growth?.toFixed(1)} times`,
  });
});

test('handles requests that once took quadratic time in time that grows with their length', async () => {
  const send = createSender((path, init) => service.app.request(path, init));
  const file = listTargets('logEvents').find(({ name }) => name.endsWith("a file's name")) as Target;
  const numbers = listTargets('logEvents').find(({ name }) => name.endsWith(', JSON')) as Target;
  const encoding = listHeaderTargets().find(({ name }) => name === 'Accept-Encoding at /tracker.js') as Target;
  const address = listTargets('createContact').find(({ name }) => name.endsWith(' contactEmailaddress')) as Target;
  const origin = listTargets('updateAccount').find(({ name }) => name.endsWith(', JSON in an object')) as Target;
  const cases = [
    [file, shapes['"a"']],
    [encoding, (length: number) => `x${'\t'.repeat(length - 2)}y`],
    [numbers, shapes['long numbers']],
    [address, shapes['an address at a long domain']],
    [origin, (length: number) => `1,"accountOrigin":["${shapes['a long domain']?.(length / 3)}"]`],
  ] as const;
  for (const [target, shape] of cases) {
    const growth = await measureGrowth(send, target, shape as (length: number) => string);
    expect(growth ?? 0, target.name).toBeLessThan(maxGrowth);
  }
});

test('searches refused requests for a person in time that grows with the request’s length', () => {
  const person = createPersonSearch();
  person.add({
    addresses: ['ann@example.com'],
    externalIDs: ['customer-1042', 'customer 7'],
    claimedIDs: ['7'],
    contactUUIDs: ['contact-1'],
    handles: ['handle-1'],
    userUUIDs: ['visitor-0123456789'],
  });
  const target: Target = { name: 'refused', maxLength: limits.refusedTextLength, request: () => ['', {}] };
  const input = JSON.stringify(shapes['combining marks in the wrong order']?.(target.maxLength));
  const before = process.cpuUsage();
  expect(person.isNamedIn({ input, message: '', address: null })).toBe(false);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(500);
});

test.each(['@', 'a@/', '%25', '%', '&#0', '&#x0', '\\u0', '＠'])(
  'hides e-mail addresses from a share link’s viewers, and takes at most linear time for text that repeats %s',
  async (part) => {
    // Uses text that is much longer than any real value. With a million matches, garbage collection would take longer
    // than the search.
    const target: Target = { name: part, maxLength: 100_000, request: (text) => [text, {}] };
    const growth = await measureGrowth(async (text) => createAddressMasker()(text), target, repeat(part));
    expect(growth ?? 0).toBeLessThan(maxGrowth);
  },
);
