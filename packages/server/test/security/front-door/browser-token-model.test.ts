import { limits } from '@firsthand/contract/limits';
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';
import { times } from '../../tools/counts.ts';
import { report } from '../../tools/report.ts';
import { addresses, knownUsers, type Planted, plant, externalIDs as plantedIDs, secret } from '../tools/planted.ts';

/** 10,000 calls in all. */
const sequences = times({ quick: 3, full: 20 });
const callsPerSequence = times({ quick: 120, full: 500 });

/** What a call names, by its place in what was planted; handles are those that the calls so far were given. */
interface Call {
  readonly operation: OperationName;
  readonly path: number;
  readonly user: number;
  readonly address: number;
  readonly contact: number;
  readonly ids: number;
  readonly text: string;
  readonly names: readonly string[];
}

const attackers = ['attacker-browser-1', 'attacker-browser-2', 'attacker-browser-3'];
const users = [...attackers, ...knownUsers];
const externalIDs = [...plantedIDs, 'customer-of-eve', ' customer-ann '];
const allAddresses = [...addresses, 'eve@shop.example', 'mallory@evil.example', 'ANN@SHOP.EXAMPLE'];

const open = (Object.keys(operations) as OperationName[]).filter((name) =>
  (operations[name].tokens as readonly string[]).includes('browser'),
);
const fieldNames = [
  'userUUID',
  'contactEmailaddress',
  'contactExternalID',
  'contactUUID',
  'contactFirstname',
  'contactLastname',
  'contactTitle',
  'contactProfileID',
  'contactTagID',
  'contactAttr',
  'contactProof',
  'contactStatus',
  'requestUUID',
  'eventUUID',
  'eventAttrArray',
  'event',
  'include',
  'otherContactUUID',
];

const call: fc.Arbitrary<Call> = fc.record({
  operation: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...open) },
    { weight: 1, arbitrary: fc.constantFrom(...operationNames) },
  ),
  path: fc.nat({ max: 5 }),
  user: fc.nat({ max: users.length - 1 }),
  address: fc.nat({ max: allAddresses.length - 1 }),
  contact: fc.nat({ max: 20 }),
  // Listed ones, the one that browsers may not use, and more than the catalogues hold.
  ids: fc.oneof(
    fc.constant(0),
    fc.nat({ max: 3 }),
    fc.integer({ min: limits.idsPerCatalogue - 10, max: 3 * limits.idsPerCatalogue }),
  ),
  text: fc.oneof(fc.constantFrom('', '0', 'true', '-tag-1'), fc.string({ maxLength: 40 })),
  names: fc.uniqueArray(fc.constantFrom(...fieldNames), { minLength: 3 }),
});

/** Writes of a page, whose refusals are listed. */
const listed: readonly OperationName[] = ['createContact', 'logEvent', 'logEvents'];

/** Fields without which a call of an open operation is refused before anything happens. */
const needed: Readonly<Record<string, readonly string[]>> = {
  createContact: ['userUUID', 'contactProfileID'],
  logEvent: ['userUUID'],
  logEvents: ['userUUID', 'event'],
  getContact: ['contactUUID'],
};

const fieldsOf = (call: Call, planted: Planted, handles: readonly string[]): Fields => {
  const contacts = [...planted.contactUUIDs, planted.otherHandle, call.text, ...handles.slice(-10)];
  const eventUUIDs = ['before-ann', 'after-ben', 'direct-cleo', 'of-nobody', `event-${call.ids}`];
  const attributes = [
    { attrID: `attr-${call.ids}`, attrValue: call.text || 'x' },
    { attrID: `attr-${call.ids + 1}`, attrValue: 'x' },
  ];
  // Of a read, often what a page was given: few of the others are answered.
  const named = call.operation === 'getContact' && call.contact % 2 === 0 && handles.length > 0 ? handles : contacts;
  const contactUUID = named[call.contact % named.length];
  const eventUUID = eventUUIDs[call.contact % eventUUIDs.length];
  const all: Record<string, unknown> = {
    userUUID: users[call.user],
    contactEmailaddress: allAddresses[call.address],
    contactExternalID: externalIDs[call.contact % externalIDs.length],
    contactUUID,
    otherContactUUID: contacts[(call.contact + 1) % contacts.length],
    contactFirstname: call.text,
    contactLastname: call.text,
    contactTitle: call.text,
    contactProfileID: `profile-${call.ids}`,
    contactTagID: `tag-${call.ids},tag-2,tag-${call.ids + 1}`,
    contactAttr: [...attributes, { attrID: 'attr-2', attrValue: 'back again' }].filter(
      ({ attrID }, nth, list) => list.findIndex((other) => other.attrID === attrID) === nth,
    ),
    contactProof: `${Math.floor(Date.now() / 1_000)}.${'ab'.repeat(32)}`,
    contactStatus: 'archived',
    requestUUID: call.ids % 2 === 0 ? 'request-planted' : `request-${call.ids}`,
    eventUUID,
    eventAttrArray: attributes,
    event: [{ eventID: call.ids + 1, eventUUID, contactUUID, userUUID: users[call.user] }, { eventID: call.ids + 2 }],
    include: 'claim,link,why,definition',
  };
  const names = new Set([...call.names, ...(needed[call.operation] ?? [])]);
  if (call.operation === 'createContact') {
    if (call.ids % 2 === 0) names.add('contactExternalID');
    if (call.ids % 2 === 1 || call.contact % 2 === 0) names.add('contactEmailaddress');
    else names.delete('contactEmailaddress');
    // An event or a read of a page that names a contact so is refused for that alone.
  } else if (call.contact % 8 !== 0) names.delete('contactExternalID');
  // With both, most calls are refused for that alone.
  if (call.operation !== 'getContact' && call.ids % 3 !== 0) names.delete('contactUUID');
  if (call.ids % 5 !== 0) names.delete('contactProof');
  if (call.ids % 4 !== 0) names.delete('include');
  // A read refuses a field that it doesn't know: most are to get beyond that.
  if (call.operation === 'getContact' && call.ids % 5 !== 0) {
    return call.ids % 4 === 0 ? { contactUUID, include: all.include } : { contactUUID };
  }
  const given = Object.fromEntries([...names].map((name) => [name, all[name]]));
  const closed = (operations[call.operation].tokens as readonly string[]).includes('browser') ? {} : planted.ids;
  return { eventID: call.ids + 1, ...closed, claimID: planted.otherHandle, ...given };
};

interface Tally {
  calls: number;
  readonly statuses: Map<string, number>;
}

/** Makes the calls; answers what they have changed or told that they must not. */
const attack = async (scene: Scene, calls: readonly Call[], tally: Tally): Promise<string[]> => {
  const planted = await plant(scene);
  const eventsBefore = (await scene.store.getAccount(1)).usage.events;
  const found: string[] = [];
  const handles: string[] = [];
  let kept = 0;
  let refused = 0;
  for (const one of calls) {
    const { paths, methods } = operations[one.operation];
    const path = paths[one.path % paths.length] as string;
    const fields = { ...fieldsOf(one, planted, handles), tokenUUID: scene.tokens.browser };
    const isPost = (methods as readonly string[]).includes('POST');
    const { status, body } = await (isPost ? scene.post(path, fields) : scene.get(path, fields));
    tally.calls += 1;
    const key = `${one.operation} ${status}`;
    tally.statuses.set(key, (tally.statuses.get(key) ?? 0) + 1);
    const isOpen = open.includes(one.operation);
    if (!isOpen && status !== 403) found.push(`${one.operation} answered ${status}`);
    if (JSON.stringify(body).includes(secret)) found.push(`${one.operation} told a secret`);
    if (one.operation === 'createContact' && status === 200) handles.push(body.contactUUID);
    const entries = one.operation === 'logEvents' && status === 200 ? body.event : isOpen ? [{ ...body, status }] : [];
    for (const entry of entries) {
      const isEvent = one.operation.startsWith('logEvent');
      if (isEvent && Number(entry.status) === 200 && !entry.duplicate) kept += 1;
      if ([400, 404, 409].includes(Number(entry.status)) && listed.includes(one.operation)) refused += 1;
    }
  }
  found.push(...(await planted.violations()));
  const held = (await scene.store.getAccount(1)).usage.events - eventsBefore;
  if (held !== kept) found.push(`${kept} events answered 200, ${held} rows`);
  const counts = await scene.store.countRefused({});
  const counted = counts.reduce((sum, one) => sum + one.listed + one.evicted + one.erased + one.replayed, 0);
  if (counted !== refused) found.push(`${refused} refused, ${counted} counted`);
  found.push(...(await planted.violationsOnceVoided()));
  return found;
};

const callsArbitrary = fc.array(call, { minLength: callsPerSequence, maxLength: callsPerSequence, size: 'max' });

test('a browser token changes no verified value, no other browser’s history and no more of a catalogue than it may', async (context) => {
  const tally: Tally = { calls: 0, statuses: new Map() };
  await fc.assert(
    fc.asyncProperty(callsArbitrary, async (calls) => {
      const scene = await openScene();
      try {
        expect(await attack(scene, calls, tally)).toEqual([]);
      } finally {
        await scene.close();
      }
    }),
    { numRuns: sequences },
  );
  const of = (name: string) => tally.statuses.get(name) ?? 0;
  // Or the calls would prove nothing.
  for (const name of ['createContact', 'logEvent', 'logEvents', 'getContact'])
    expect(of(`${name} 200`)).toBeGreaterThan(0);
  expect(of('createContact 403')).toBeGreaterThan(0);

  // As if the browser's word were a server's.
  const scene = await openScene({
    wrap: (store) => ({
      ...store,
      createContact: (request) => store.createContact({ ...request, browser: false, verified: true }),
    }),
  });
  const [calls = []] = fc.sample(callsArbitrary, { numRuns: 1, seed: 1 });
  const weakened = await attack(scene, calls, { calls: 0, statuses: new Map() });
  await scene.close();
  expect(weakened.length).toBeGreaterThan(0);
  const answers = [...tally.statuses].sort().map(([name, count]) => `${name}: ${count}`);
  console.info(answers.join('\n'));
  report(context, {
    fault: 'browser token',
    count: `${tally.calls} calls in ${sequences} sequences: ${open.map((name) => `${of(`${name} 200`)} × ${name} 200`).join(', ')}`,
    result: 'no verified value, no owner, no listed ID changed; every row and every refusal counted',
    weakened: `a browser's word taken for a server's: ${weakened.length} violations`,
  });
});
