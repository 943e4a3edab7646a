/**
 * Tests that any text is either refused with 400 or stored exactly, so that reads return what was sent. Nothing else
 * changes.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { newAddress, newUserUUID } from '../../fixtures/requests.ts';
import { openScene, type Scene } from '../../fixtures/scene.ts';
import { times } from '../../tools/counts.ts';
import { report } from '../../tools/report.ts';

const inputs = times({ quick: 1_500, full: 100_000 });

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(async () => {
  expect(scene.logged()).not.toContain('"level":50');
  await scene.close();
});

/** The properties that all objects in this process inherit. */
const prototypes = () =>
  [Object, Array, String, Number, Boolean, Function, Map, Set, Promise, Error, RegExp, Date].map(({ prototype }) =>
    Reflect.ownKeys(prototype).map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key)?.value]),
  );
const before = prototypes();
const expectUnchanged = () => expect(prototypes()).toEqual(before);

/** A place in a request for a value, and how to read the stored value back. */
interface Slot {
  readonly name: string;
  /** Whether values other than text are accepted, and stored as text or not at all. */
  readonly takesScalars: boolean;
  /** The fields of the request's object, as JSON. */
  readonly members: (literal: string) => string;
  readonly path: string;
  /** Reads the stored text. */
  readonly read: (scene: Scene, response: { contactUUID?: string }, userUUID: string) => Promise<string | undefined>;
}

const server = ({ tokens }: Scene) => ({ tokenUUID: tokens.server });

const readEvent = async (scene: Scene, userUUID: string) => {
  const { body } = await scene.get('/event/getEvent', { ...server(scene), userUUID });
  return body.event[0].eventAttrArray[0] as { attrID: string; attrValue: string } | undefined;
};

const readContact = async (scene: Scene, contactUUID = '') => {
  const { body } = await scene.get('/contact/getContact', { ...server(scene), contactUUID });
  return body.contact;
};

const slots: readonly Slot[] = [
  {
    name: 'an attribute’s value',
    takesScalars: true,
    path: '/logEvent',
    members: (literal) => `"eventID":1,"eventAttrArray":[{"attrID":"a","attrValue":${literal}}]`,
    read: async (scene, _, userUUID) => (await readEvent(scene, userUUID))?.attrValue,
  },
  {
    name: 'an attribute’s ID',
    takesScalars: false,
    path: '/logEvent',
    members: (literal) => `"eventID":1,"eventAttrArray":[{"attrValue":"v","attrID":${literal}}]`,
    read: async (scene, _, userUUID) => (await readEvent(scene, userUUID))?.attrID,
  },
  ...['contactFirstname', 'contactLastname', 'contactTelephone', 'contactProfileID'].map(
    (field): Slot => ({
      name: field,
      takesScalars: false,
      path: '/createContact',
      members: (literal) =>
        `"contactEmailaddress":"${newAddress()}"${field === 'contactProfileID' ? '' : ',"contactProfileID":"p"'},"${field}":${literal}`,
      read: async (scene, { contactUUID }) => (await readContact(scene, contactUUID))[field],
    }),
  ),
  {
    name: 'a contact’s attribute',
    takesScalars: true,
    path: '/createContact',
    members: (literal) =>
      `"contactEmailaddress":"${newAddress()}","contactProfileID":"p","contactAttr":[{"attrID":"__proto__","attrValue":${literal}}]`,
    read: async (scene, { contactUUID }) => (await readContact(scene, contactUUID)).contactAttr[0]?.attrValue,
  },
];

/** The significant digits of a number's text. */
const digitsOf = (literal: string) =>
  /^-?0*(\d*)\.?(\d*)/
    .exec(literal)
    ?.slice(1)
    .join('')
    .replace(/^0+|0+$/g, '') ?? '';

/** Whether `stored` is the number in `literal`, with all its digits. */
const isSameNumber = (literal: string, stored: string) => {
  const digits = digitsOf(literal);
  if (digits === '') return Number(stored) === 0;
  if (Number(stored) !== Number(literal) || digits.length > 100) return false;
  if (digitsOf(stored) === digits) return true;
  return digitsOf(Number(stored).toPrecision(digits.length)) === digits;
};

/** The text of each leaf in a nested value. */
const leavesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [String(value)];

/** Describes how the stored text differs from a literal, if at all. */
const differenceOf = ({ takesScalars }: Slot, literal: string, stored: string | undefined): string | undefined => {
  const sent: unknown = JSON.parse(literal);
  const differs = `stored ${JSON.stringify(stored)}`;
  if (typeof sent === 'string') return stored === sent ? undefined : differs;
  if (sent === null && !takesScalars) return stored === '' ? undefined : differs;
  if (!takesScalars) return differs;
  // Compares only the first attribute of a nested value; contract/src/attributes.test.ts compares all.
  if (typeof sent === 'object') return stored === undefined || leavesOf(sent).includes(stored) ? undefined : differs;
  if (typeof sent === 'number') return isSameNumber(literal.trim(), stored ?? '') ? undefined : differs;
  return typeof sent === 'boolean' && stored === String(sent) ? undefined : differs;
};

const isJSON = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The number of strings for each outcome. */
const tally = { sent: 0, refused: 0, stored: 0, otherRequests: 0 };

/** Sends a literal in a slot. Returns a description of what is wrong with the result, if anything. */
const sendAndCompare = async (to: Scene, slot: Slot, rawLiteral: string): Promise<string | undefined> => {
  // UTF-8 can't encode lone surrogates; JSON can escape them.
  const literal = rawLiteral.toWellFormed();
  const userUUID = newUserUUID();
  const body = `{"tokenUUID":"${to.tokens.server}","userUUID":"${userUUID}",${slot.members(literal)}}`;
  const response = await to.send(slot.path, { method: 'POST', body });
  tally.sent += 1;
  if (response.status === 400) {
    tally.refused += 1;
    return undefined;
  }
  if (response.status !== 200) return `responded ${response.status}`;
  if (!isJSON(literal)) return 'accepted, although not JSON';
  const difference = differenceOf(slot, literal, await slot.read(to, response.body, userUUID));
  if (difference === undefined) tally.stored += 1;
  return difference;
};

const hostileLiterals: Readonly<Record<string, string>> = {
  'no value': '',
  'an escaped NUL': '"a\\u0000b"',
  'an unescaped NUL': '"a\0b"',
  'a lone high surrogate': '"\\ud83c"',
  'a lone low surrogate': '"\\udf4b"',
  'surrogates in the wrong order': '"\\udf4b\\ud83c"',
  'an escaped pair of surrogates': '"\\ud83c\\udf4b"',
  'a character beyond the BMP': '"🍋"',
  'composed and decomposed characters': '"e\\u0301 é"',
  'a byte order mark': '"\\ufeffa\\ufeff"',
  'line terminators': '"\\u2028\\u2029\\u0085\\r\\n"',
  'escaped control characters': '"\\u0001\\u001f\\u007f\\b\\f"',
  'an unescaped control character': '"\u0001"',
  'a noncharacter': '"\\ufffe\\uffff"',
  'the replacement character': '"\\ufffd"',
  'other directions': '"\\u202eabc\\u2066"',
  'surrounding spaces': '"  a  "',
  'only spaces': '"   "',
  SQL: '"\'; DROP TABLE event; --"',
  'a pattern': '"%_*?[a-z]"',
  HTML: '"<script>alert(1)</script>"',
  'a path of JSON': '"$.a[0]"',
  'text of __proto__': '"__proto__"',
  'text of constructor': '"constructor"',
  'text of a number': '"1e1000"',
  'text of null': '"null"',
  '2^53': '9007199254740992',
  '2^53 + 1': '9007199254740993',
  '−(2^53 + 1)': '-9007199254740993',
  '2^53 − 1': '9007199254740991',
  'a 64-bit ID': '18446744073709551615',
  'a fraction that is too long': '0.1234567890123456789',
  'a large number with a fraction': '4503599627370497.25',
  'an inexact sum': '0.30000000000000004',
  'a fraction with 17 digits': '0.10000000000000001',
  'a number that is too small': '1e-400',
  'a number that is too large': '1e400',
  'negative zero': '-0',
  'zero with a point': '0.0',
  'zero with an exponent': '0e99',
  'an exponent': '1E+2',
  'the smallest positive number': '5e-324',
  'the largest number': '1.7976931348623157e308',
  'a leading plus sign': '+1',
  'a leading zero': '01',
  hexadecimal: '0x10',
  'a leading decimal point': '.5',
  'a trailing decimal point': '5.',
  NaN: 'NaN',
  Infinity: 'Infinity',
  undefined: 'undefined',
  true: 'true',
  True: 'True',
  null: 'null',
  'single quotes': "'a'",
  'a comment': '1/**/',
  'a trailing comma': '[1,]',
  'a list': '["a"]',
  'an empty object': '{}',
  'an object with __proto__': '{"__proto__":{"polluted":1}}',
  'an object that has a toString': '{"toString":"a","valueOf":"b"}',
  'a lone backslash': '"\\"',
  'an invalid escape': '"\\x41"',
  'an incomplete escape': '"\\u12"',
  '2,048 characters': JSON.stringify('x'.repeat(2_048)),
  '2,049 characters': JSON.stringify('x'.repeat(2_049)),
  '255 characters of two units': JSON.stringify('🍋'.repeat(127)),
  'a key of 60,000 characters': `{"${'k'.repeat(60_000)}":1}`,
};

describe.each(slots.map((slot) => [slot.name, slot] as const))('%s', (_, slot) => {
  it.each(Object.entries(hostileLiterals))('refuses %s or stores it exactly', async (_, literal) => {
    expect(await sendAndCompare(scene, slot, literal)).toBeUndefined();
    expectUnchanged();
  });
});

describe('the parser', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const objects = (levels: number) => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels);
  const userUUID = 'a-user-of-great-depth';
  const send = (path: string, body: NonNullable<RequestInit['body']>) =>
    scene.send(path, { method: 'POST', body, headers: { Authorization: `Bearer ${scene.tokens.server}` } });
  /** Depths that fit into a request body, and larger depths. */
  const levels = [33, 3_000, 30_000, 250_000, 500_000, 1_000_000];

  it.each(levels)('refuses a request body with nesting depth %d', async (count) => {
    for (const text of [deep(count), objects(count)]) {
      const { status } = await send('/event/logEvents', `{"userUUID":"${userUUID}","event":[${text}]}`);
      expect([400, 413]).toContain(status);
    }
  });

  it.each(levels)('refuses the text of a list with nesting depth %d', async (count) => {
    for (const list of [deep(count), `[${objects(count)}]`, `[{"eventID":1,"eventAttrArray":${deep(count)}}]`]) {
      const asText = await send('/event/logEvents', JSON.stringify({ userUUID, event: list }));
      const asForm = await send('/event/logEvents', new URLSearchParams({ userUUID, event: list }));
      const form = new FormData();
      form.append('userUUID', userUUID);
      form.append('event', list);
      const asParts = await send('/event/logEvents', form);
      for (const { status } of [asText, asForm, asParts]) expect([400, 413]).toContain(status);
    }
  });

  it.each([33, 1_000, 3_900])('refuses a query string with nesting depth %d', async (count) => {
    const fields = { userUUID, eventID: 1 };
    for (const path of ['/logEvent', '/event/logEvents']) {
      const list = encodeURI(deep(count)).replaceAll('%5B', '[').replaceAll('%5D', ']');
      const query = `${new URLSearchParams({ ...fields, eventID: '1' })}&eventAttrArray=${list}&event=${list}`;
      const { status } = await send(`${path}?${query.slice(0, 8_100)}`, '{}');
      expect(status).toBe(400);
    }
  });
});

describe('an unknown field name', () => {
  const event = (userUUID: string) => `"tokenUUID":"${scene.tokens.browser}","userUUID":"${userUUID}","eventID":1`;

  const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON'];

  it.each<[what: string, name: string]>([
    ['60,000 characters long', 'k'.repeat(60_000)],
    ['empty', ''],
    ['NUL and half a surrogate pair', '\0\ud800'],
    ...inherited.map((name): [string, string] => [`inherited by objects (${name})`, name]),
  ])('changes nothing if it is %s', async (_, name) => {
    for (const value of ['1', '{"polluted":1}', '[1]', 'null', '"x"']) {
      const body = `{${JSON.stringify(name)}:${value},${event(newUserUUID())}}`;
      const { status } = await scene.send('/logEvent', { method: 'POST', body });
      expect(status).toBe(200);
      const inside = `{${event(newUserUUID())},"eventAttrArray":[{${JSON.stringify(name)}:${value},"attrID":"a","attrValue":"b"}]}`;
      expect((await scene.send('/logEvent', { method: 'POST', body: inside })).status).toBe(200);
    }
    const query = new URLSearchParams({ tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: '1' });
    query.append(name.slice(0, 4_000), 'x');
    expect((await scene.send(`/logEvent?${query}`)).status).toBe(200);
    expectUnchanged();
  });
});

/** Any UTF-16 code units, biased toward ones that often cause errors. */
const units = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 0x22, 0x5c, 0xd83c, 0xdf4b, 0xfeff, 0xfffd, 0x2028, 0x301) },
);
const anyText = fc.array(units, { maxLength: 80 }).map((codes) => String.fromCharCode(...codes));
/** JSON text with minimal, full or no escaping. */
const textLiteral = fc.tuple(anyText, fc.constantFrom('least', 'all', 'none')).map(([text, escapes]) => {
  if (escapes === 'none') return `"${text}"`;
  if (escapes === 'least') return JSON.stringify(text);
  return `"${[...text.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
});
const digits = fc.stringMatching(/^\d{1,22}$/);
const numberLiteral = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    digits,
    fc.option(digits),
    fc.option(fc.tuple(fc.constantFrom('e', 'E-', 'e+'), fc.nat(400))),
  )
  .map(([sign, whole, part, exponent]) => {
    const bare = whole.replace(/^0+(?=\d)/, '');
    return `${sign}${bare}${part === null ? '' : `.${part}`}${exponent === null ? '' : exponent.join('')}`;
  });
const literal = fc.oneof(
  { weight: 6, arbitrary: textLiteral },
  { weight: 3, arbitrary: numberLiteral },
  { weight: 1, arbitrary: fc.double().map(String) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: anyText },
  { weight: 1, arbitrary: fc.constantFrom(...Object.values(hostileLiterals)) },
);

const property = (to: () => Scene) =>
  fc.asyncProperty(fc.constantFrom(...slots), literal, async (slot, sent) => {
    // Skips text that closes its place in the JSON, because it turns the request into a different request.
    const wrong = await sendAndCompare(to(), slot, sent);
    if (wrong === undefined) return;
    if (!isAlone(sent)) tally.otherRequests += 1;
    else throw new Error(`${slot.name}: ${wrong}`);
  });

/** Whether text is a single value in its place. For example, `1,"a":2` adds a field. */
const isAlone = (text: string) => (isJSON(`[${text}]`) ? (JSON.parse(`[${text}]`) as unknown[]).length === 1 : true);

/** The outcomes, once the test has passed. */
let finalTally: typeof tally | undefined;

it(`refuses or exactly stores any of ${inputs} strings`, async () => {
  await fc.assert(
    property(() => scene),
    { numRuns: inputs, seed: 20_261_121 },
  );
  expectUnchanged();
  finalTally = { ...tally };
});

it('detects text that is not stored exactly', async (context) => {
  const normalizeText = (store: Store): Store => ({
    ...store,
    logEvents: (batch) =>
      store.logEvents({
        ...batch,
        events: batch.events.map((event) => ({
          ...event,
          attributes: event.attributes.map(([id, value]) => [id, value.normalize()] as const),
        })),
      }),
  });
  const weakened = await openScene({ wrap: normalizeText });
  const slot = slots[0] as Slot;
  expect(await sendAndCompare(weakened, slot, '"plain"')).toBeUndefined();
  expect(await sendAndCompare(weakened, slot, '"e\\u0301"')).toMatch(/^stored/);
  const { failed, numRuns } = await fc.check(
    property(() => weakened),
    { numRuns: 20_000, seed: 1, endOnFailure: true },
  );
  await weakened.close();
  expect(failed).toBe(true);
  if (finalTally === undefined) return;
  const { sent, refused, stored, otherRequests } = finalTally;
  report(context, {
    fault: 'hostile text',
    count: `${sent} texts in ${slots.length} fields, ${slots.length * Object.keys(hostileLiterals).length} of them handpicked, the others random`,
    result: `${sent - stored - refused - otherRequests} stored differently: ${stored} stored exactly, ${refused} refused, ${otherRequests} broke out of their field and changed the request`,
    weakened: `normalizes stored text: detected after ${numRuns} random texts`,
  });
});
