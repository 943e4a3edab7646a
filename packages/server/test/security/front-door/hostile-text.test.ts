/** Whatever text comes, it is refused with 400 or kept exactly: read back, it is what was sent. Nothing else changes. */
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

/** What every object in this process inherits. */
const prototypes = () =>
  [Object, Array, String, Number, Boolean, Function, Map, Set, Promise, Error, RegExp, Date].map(({ prototype }) =>
    Reflect.ownKeys(prototype).map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key)?.value]),
  );
const before = prototypes();
const expectUnchanged = () => expect(prototypes()).toEqual(before);

/** Where a value is put, and how what was kept of it is read back. */
interface Slot {
  readonly name: string;
  /** Of a value that is no text, what is kept: its text, nothing, or no such value. */
  readonly takesScalars: boolean;
  /** Members of the request's object, as JSON text. */
  readonly members: (literal: string) => string;
  readonly path: string;
  /** The text that was kept. */
  readonly read: (scene: Scene, answer: { contactUUID?: string }, userUUID: string) => Promise<string | undefined>;
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

/** The digits that count of a number's text, and how many there are. */
const digitsOf = (literal: string) =>
  /^-?0*(\d*)\.?(\d*)/
    .exec(literal)
    ?.slice(1)
    .join('')
    .replace(/^0+|0+$/g, '') ?? '';

/** Whether `kept` is the number that `literal` says, with each of its digits. */
const isSameNumber = (literal: string, kept: string) => {
  const digits = digitsOf(literal);
  if (digits === '') return Number(kept) === 0;
  if (Number(kept) !== Number(literal) || digits.length > 100) return false;
  if (digitsOf(kept) === digits) return true;
  return digitsOf(Number(kept).toPrecision(digits.length)) === digits;
};

/** The texts of all values in a nested one. */
const leavesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [String(value)];

/** What is wrong with what was kept of a literal, if anything is. */
const differenceOf = ({ takesScalars }: Slot, literal: string, kept: string | undefined): string | undefined => {
  const sent: unknown = JSON.parse(literal);
  const differs = `kept ${JSON.stringify(kept)}`;
  if (typeof sent === 'string') return kept === sent ? undefined : differs;
  if (sent === null && !takesScalars) return kept === '' ? undefined : differs;
  if (!takesScalars) return differs;
  // The first attribute that a nested value became, if any. contract/src/attributes.test.ts compares all of them.
  if (typeof sent === 'object') return kept === undefined || leavesOf(sent).includes(kept) ? undefined : differs;
  if (typeof sent === 'number') return isSameNumber(literal.trim(), kept ?? '') ? undefined : differs;
  return typeof sent === 'boolean' && kept === String(sent) ? undefined : differs;
};

const isJSON = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** What has come of the texts so far. */
const tally = { sent: 0, refused: 0, kept: 0, others: 0 };

/** Sends a literal in a slot; answers what is wrong with what came of it. */
const put = async (to: Scene, slot: Slot, given: string): Promise<string | undefined> => {
  // What is sent is UTF-8, which has no lone surrogates but escaped ones.
  const literal = given.toWellFormed();
  const userUUID = newUserUUID();
  const body = `{"tokenUUID":"${to.tokens.server}","userUUID":"${userUUID}",${slot.members(literal)}}`;
  const answer = await to.send(slot.path, { method: 'POST', body });
  tally.sent += 1;
  if (answer.status === 400) {
    tally.refused += 1;
    return undefined;
  }
  if (answer.status !== 200) return `answered ${answer.status}`;
  if (!isJSON(literal)) return 'taken, and no JSON';
  const difference = differenceOf(slot, literal, await slot.read(to, answer.body, userUUID));
  if (difference === undefined) tally.kept += 1;
  return difference;
};

const oddities: Readonly<Record<string, string>> = {
  nothing: '',
  'a NUL': '"a\\u0000b"',
  'a NUL as it is': '"a\0b"',
  'a lone high surrogate': '"\\ud83c"',
  'a lone low surrogate': '"\\udf4b"',
  'surrogates in the wrong order': '"\\udf4b\\ud83c"',
  'a pair of surrogates, escaped': '"\\ud83c\\udf4b"',
  'a character beyond the BMP': '"🍋"',
  'what looks like two characters': '"e\\u0301 é"',
  'a byte order mark': '"\\ufeffa\\ufeff"',
  'characters that end lines': '"\\u2028\\u2029\\u0085\\r\\n"',
  'controls, escaped': '"\\u0001\\u001f\\u007f\\b\\f"',
  'a control as it is': '"\u0001"',
  'a noncharacter': '"\\ufffe\\uffff"',
  'the replacement character': '"\\ufffd"',
  'other directions': '"\\u202eabc\\u2066"',
  'spaces around it': '"  a  "',
  'nothing but spaces': '"   "',
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
  '2^53 + 1 below zero': '-9007199254740993',
  '2^53 − 1': '9007199254740991',
  'an ID of 64 bits': '18446744073709551615',
  'a fraction that is too long': '0.1234567890123456789',
  'a large number with a fraction': '4503599627370497.25',
  'a sum as it is written in full': '0.30000000000000004',
  'a fraction with 17 digits': '0.10000000000000001',
  'a number that is too small': '1e-400',
  'a number that is too large': '1e400',
  'zero below zero': '-0',
  'zero with a point': '0.0',
  'zero with an exponent': '0e99',
  'an exponent': '1E+2',
  'the least number': '5e-324',
  'the greatest number': '1.7976931348623157e308',
  'a plus in front': '+1',
  'a zero in front': '01',
  hexadecimal: '0x10',
  'a point in front': '.5',
  'a point at the end': '5.',
  NaN: 'NaN',
  Infinity: 'Infinity',
  undefined: 'undefined',
  true: 'true',
  True: 'True',
  null: 'null',
  'single quotes': "'a'",
  'a comment': '1/**/',
  'a comma at the end': '[1,]',
  'a list': '["a"]',
  'an empty object': '{}',
  'an object with __proto__': '{"__proto__":{"polluted":1}}',
  'an object that has a toString': '{"toString":"a","valueOf":"b"}',
  'a lone backslash': '"\\"',
  'an escape that is none': '"\\x41"',
  'half an escape': '"\\u12"',
  '2,048 characters': JSON.stringify('x'.repeat(2_048)),
  '2,049 characters': JSON.stringify('x'.repeat(2_049)),
  '255 characters of two units': JSON.stringify('🍋'.repeat(127)),
  'a key of 60,000 characters': `{"${'k'.repeat(60_000)}":1}`,
};

describe.each(slots.map((slot) => [slot.name, slot] as const))('%s', (_, slot) => {
  it.each(Object.entries(oddities))('%s is refused, or kept exactly', async (_, literal) => {
    expect(await put(scene, slot, literal)).toBeUndefined();
    expectUnchanged();
  });
});

describe('depth', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const objects = (levels: number) => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels);
  const userUUID = 'a-user-of-great-depth';
  const send = (path: string, body: NonNullable<RequestInit['body']>) =>
    scene.send(path, { method: 'POST', body, headers: { Authorization: `Bearer ${scene.tokens.server}` } });
  /** Of what fits into a body, and of more. */
  const levels = [33, 3_000, 30_000, 250_000, 500_000, 1_000_000];

  it.each(levels)('of %d is refused in a body', async (count) => {
    for (const text of [deep(count), objects(count)]) {
      const { status } = await send('/event/logEvents', `{"userUUID":"${userUUID}","event":[${text}]}`);
      expect([400, 413]).toContain(status);
    }
  });

  it.each(levels)('of %d is refused in the text of a list', async (count) => {
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

  it.each([33, 1_000, 3_900])('of %d is refused in a query string', async (count) => {
    const fields = { userUUID, eventID: 1 };
    for (const path of ['/logEvent', '/event/logEvents']) {
      const list = encodeURI(deep(count)).replaceAll('%5B', '[').replaceAll('%5D', ']');
      const query = `${new URLSearchParams({ ...fields, eventID: '1' })}&eventAttrArray=${list}&event=${list}`;
      const { status } = await send(`${path}?${query.slice(0, 8_100)}`, '{}');
      expect(status).toBe(400);
    }
  });
});

describe('names of fields', () => {
  const event = (userUUID: string) => `"tokenUUID":"${scene.tokens.browser}","userUUID":"${userUUID}","eventID":1`;

  const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON'];

  it.each<[what: string, name: string]>([
    ['of 60,000 characters', 'k'.repeat(60_000)],
    ['of nothing', ''],
    ['with NUL and half a pair', '\0\ud800'],
    ...inherited.map((name): [string, string] => [`that objects have: ${name}`, name]),
  ])('%s change nothing', async (_, name) => {
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

/** Text of any 16-bit units, and of those that are trouble. */
const units = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 0x22, 0x5c, 0xd83c, 0xdf4b, 0xfeff, 0xfffd, 0x2028, 0x301) },
);
const anyText = fc.array(units, { maxLength: 80 }).map((codes) => String.fromCharCode(...codes));
/** As JSON, escaped in one of the ways that there are. */
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
  { weight: 1, arbitrary: fc.constantFrom(...Object.values(oddities)) },
);

const property = (to: () => Scene) =>
  fc.asyncProperty(fc.constantFrom(...slots), literal, async (slot, sent) => {
    // What closes its place in the request is another request.
    const wrong = await put(to(), slot, sent);
    if (wrong === undefined) return;
    if (!isAlone(sent)) tally.others += 1;
    else throw new Error(`${slot.name}: ${wrong}`);
  });

/** Whether text is one thing in its place, and not several: `1,"a":2` is two members. */
const isAlone = (text: string) => (isJSON(`[${text}]`) ? (JSON.parse(`[${text}]`) as unknown[]).length === 1 : true);

/** What came of them all, once that has been looked at. */
let proved: typeof tally | undefined;

it(`any of ${inputs} texts is refused, or kept exactly`, async () => {
  await fc.assert(
    property(() => scene),
    { numRuns: inputs, seed: 20_261_121 },
  );
  expectUnchanged();
  proved = { ...tally };
});

it('what is not kept exactly is seen', async (context) => {
  const tidying = (store: Store): Store => ({
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
  const weakened = await openScene({ wrap: tidying });
  const slot = slots[0] as Slot;
  expect(await put(weakened, slot, '"plain"')).toBeUndefined();
  expect(await put(weakened, slot, '"e\\u0301"')).toMatch(/^kept/);
  const { failed, numRuns } = await fc.check(
    property(() => weakened),
    { numRuns: 20_000, seed: 1, endOnFailure: true },
  );
  await weakened.close();
  expect(failed).toBe(true);
  if (proved === undefined) return;
  const { sent, refused, kept, others } = proved;
  report(context, {
    fault: 'hostile text',
    count: `${sent} texts in ${slots.length} fields, ${slots.length * Object.keys(oddities).length} of them chosen, the others random`,
    result: `${sent - kept - refused - others} kept otherwise: ${kept} kept exactly, ${refused} refused, ${others} closed their place and so were other requests`,
    weakened: `normalizes what it keeps: seen after ${numRuns} random texts`,
  });
});
