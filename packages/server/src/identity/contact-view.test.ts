import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Claim,
  type ContactField,
  type ContactRecord,
  contactFields,
  mergeClaim,
  type Values,
  viewClaim,
  viewContact,
} from './contact-view.ts';

interface SentValues {
  fields?: Partial<Record<ContactField, string>>;
  tags?: Record<string, boolean>;
  attributes?: Record<string, string | null>;
}

const values = ({ fields = {}, tags = {}, attributes = {} }: SentValues): Values => ({
  fields,
  tags: new Map(Object.entries(tags)),
  attributes: new Map(Object.entries(attributes)),
});

const claim = (number: number, sent: SentValues, change: Partial<Claim> = {}): Claim => ({
  claim: number,
  newestLink: 0,
  values: values(sent),
  accepted: false,
  voided: false,
  ...change,
});

const record = (sent: SentValues, ...claims: Claim[]): ContactRecord => ({
  values: values(sent),
  verified: true,
  externalIDVerified: true,
  claims,
});

const accepted = { accepted: true };
const voided = { voided: true };

describe('a field', () => {
  const telephone = (contactTelephone: string): SentValues => ({ fields: { contactTelephone } });

  test.each<[string, ContactRecord[], string, boolean]>([
    ['that was never set is empty', [record({})], '', false],
    ['is the contact’s own', [record(telephone('1'))], '1', false],
    ['with its own value isn’t replaced by a claim', [record(telephone('1'), claim(1, telephone('2')))], '1', false],
    ['that is empty is filled by a claim', [record({}, claim(1, telephone('2')))], '2', true],
    [
      'is filled by the earliest claim, in any order',
      [record({}, claim(2, telephone('2')), claim(1, telephone('1')))],
      '1',
      true,
    ],
    [
      'is filled by the claim of the user who was linked most recently',
      [record({}, ...[3, 1, 2].map((nth) => claim(4 - nth, telephone(`${nth}`), { newestLink: nth * 10 })))],
      '3',
      true,
    ],
    [
      'is filled by an accepted claim rather than by an open claim with a newer link',
      [
        record(
          {},
          claim(1, telephone('1'), { newestLink: 20 }),
          claim(2, telephone('2'), { ...accepted, newestLink: 10 }),
        ),
      ],
      '2',
      false,
    ],
    [
      'is filled by an accepted claim rather than by an earlier open claim',
      [record({}, claim(1, telephone('1')), claim(2, telephone('2'), accepted))],
      '2',
      false,
    ],
    ['isn’t filled by a voided claim', [record({}, claim(1, telephone('1'), voided))], '', false],
    [
      'isn’t filled by a claim that was accepted and then voided',
      [record({}, claim(1, telephone('1'), { ...accepted, ...voided }))],
      '',
      false,
    ],
    [
      'isn’t filled by the empty value of a claim',
      [record({}, claim(1, telephone('')), claim(2, telephone('2')))],
      '2',
      true,
    ],
    ['that was explicitly cleared stays empty', [record(telephone(''), claim(1, telephone('1'), accepted))], '', false],
    ['comes from a merged record', [record({}), record(telephone('2'))], '2', false],
    [
      'in the contact’s own record takes precedence over that of a merged record',
      [record(telephone('1')), record(telephone('2'))],
      '1',
      false,
    ],
    [
      'that is cleared in the contact’s own record is not filled by a merged record',
      [record(telephone('')), record(telephone('2'))],
      '',
      false,
    ],
    [
      'comes from the first merged record that has it',
      [record({}), record({}), record(telephone('3')), record(telephone('4'))],
      '3',
      false,
    ],
    [
      'that is cleared in a merged record is empty',
      [record({}, claim(1, telephone('1'))), record(telephone('')), record(telephone('3'))],
      '',
      false,
    ],
    [
      'in a merged record takes precedence over an accepted claim',
      [record({}, claim(1, telephone('1'), accepted)), record(telephone('2'))],
      '2',
      false,
    ],
    [
      'is filled by the earliest claim, no matter which record has the claim',
      [record({}, claim(2, telephone('2'))), record({}, claim(1, telephone('1')))],
      '1',
      true,
    ],
  ])('%s', (_, records, value, claimed) => {
    const view = viewContact(records);
    expect(view.fields.contactTelephone).toBe(value);
    expect(view.claimed).toEqual(claimed ? ['contactTelephone'] : []);
  });

  test('is included even if it is not set, in the published order', () => {
    expect(Object.keys(viewContact([record({})]).fields)).toEqual([...contactFields]);
  });
});

describe('the e-mail address', () => {
  const address = (contactEmailaddress: string): SentValues => ({ fields: { contactEmailaddress } });

  test('is the contact’s own, regardless of merged records and claims', () => {
    const own = record(address('ann@example.com'), claim(1, address('eve@example.com'), accepted));
    const view = viewContact([own, record(address('anna@example.com'))]);
    expect(view.fields.contactEmailaddress).toBe('ann@example.com');
    expect(view.claimed).toEqual([]);
  });

  test('is claimed until it is verified or a claim in its record is accepted', () => {
    const unverified = { ...record(address('ann@example.com')), verified: false };
    expect(viewContact([unverified]).claimed).toEqual(['contactEmailaddress']);
    expect(viewContact([unverified]).fields.contactEmailaddress).toBe('ann@example.com');
    expect(viewContact([{ ...unverified, claims: [claim(1, {}, accepted)] }]).claimed).toEqual([]);
    expect(viewContact([{ ...unverified, claims: [claim(1, {}, { ...accepted, ...voided })] }]).claimed).toEqual([
      'contactEmailaddress',
    ]);
  });

  test('from a merged record is shown only if the contact itself has none', () => {
    const anna = { ...record(address('anna@example.com')), verified: false };
    const view = viewContact([record(address('ann@example.com')), anna]);
    expect([view.fields.contactEmailaddress, view.claimed]).toEqual(['ann@example.com', []]);
    const filled = viewContact([record({}), anna]);
    expect([filled.fields.contactEmailaddress, filled.claimed]).toEqual(['anna@example.com', ['contactEmailaddress']]);
  });

  test('that is missing is neither filled by a claim nor listed as claimed', () => {
    const view = viewContact([record({}, claim(1, address('eve@example.com')))]);
    expect(view.fields.contactEmailaddress).toBe('');
    expect(view.claimed).toEqual([]);
    expect(viewContact([{ ...record(address('')), verified: false }]).claimed).toEqual([]);
  });
});

describe('an attribute', () => {
  const size = (value: string | null): SentValues => ({ attributes: { size: value } });

  test.each<[string, ContactRecord[], string | undefined, boolean]>([
    ['that was never set is absent', [record({})], undefined, false],
    ['may be empty in a record', [record(size(''), claim(1, size('L')))], '', false],
    [
      'that was explicitly removed stays absent',
      [record(size(null), claim(1, size('L'), accepted)), record(size('S'))],
      undefined,
      false,
    ],
    ['is filled by an open claim', [record({}, claim(1, size('L')))], 'L', true],
    ['is filled by an accepted claim', [record({}, claim(1, size('L'), accepted))], 'L', false],
    ['isn’t filled by an empty claim', [record({}, claim(1, size('')), claim(2, size('L')))], 'L', true],
    ['can’t be removed by a claim', [record({}, claim(1, size(null)), claim(2, size('L')))], 'L', true],
    ['comes from a merged record', [record({}, claim(1, size('L'))), record(size('S'))], 'S', false],
  ])('%s', (_, records, value, claimed) => {
    const view = viewContact(records);
    expect(view.attributes.get('size')).toBe(value);
    expect(view.attributes.size).toBe(value === undefined ? 0 : 1);
    expect(view.claimed).toEqual(claimed ? ['contactAttr.size'] : []);
  });
});

describe('a tag', () => {
  const vip = (has: boolean): SentValues => ({ tags: { vip: has } });

  test.each<[string, ContactRecord[], boolean, boolean]>([
    ['that was never set is absent', [record({})], false, false],
    ['is the contact’s own', [record(vip(true))], true, false],
    [
      'that was explicitly removed stays absent',
      [record(vip(false), claim(1, vip(true), accepted)), record(vip(true))],
      false,
      false,
    ],
    ['comes from a merged record', [record({}), record(vip(true))], true, false],
    [
      'is determined by the first merged record that has it',
      [record({}), record(vip(false)), record(vip(true))],
      false,
      false,
    ],
    ['is given by an open claim', [record({}, claim(1, vip(true)))], true, true],
    ['is given by an accepted claim', [record({}, claim(1, vip(true)), claim(2, vip(true), accepted))], true, false],
    ['cannot be removed by a claim', [record({}, claim(1, vip(false)), claim(2, vip(true)))], true, true],
    ['isn’t given by a voided claim', [record({}, claim(1, vip(true), voided))], false, false],
  ])('%s', (_, records, has, claimed) => {
    const view = viewContact(records);
    expect([...view.tags]).toEqual(has ? ['vip'] : []);
    expect(view.claimed).toEqual(claimed ? ['tag.vip'] : []);
  });

  test('is combined from all records and claims', () => {
    const own = record({ tags: { d: true } }, claim(1, { tags: { a: true } }));
    expect([...viewContact([own, record({ tags: { c: true, b: true } })]).tags]).toEqual(['a', 'b', 'c', 'd']);
  });
});

test('lists claimed fields in the published order, then attributes, then tags, each sorted', () => {
  const sent: SentValues = {
    fields: { contactProfileID: 'p', contactTitle: 'Dr' },
    attributes: { z: '1', a: '2' },
    tags: { y: true, b: true },
  };
  expect(viewContact([record({}, claim(1, sent))]).claimed).toEqual([
    'contactTitle',
    'contactProfileID',
    'contactAttr.a',
    'contactAttr.z',
    'tag.b',
    'tag.y',
  ]);
});

test('treats names from Object.prototype as ordinary names', () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const odd: Values = {
    fields: {},
    tags: new Map(names.map((name) => [name, true])),
    attributes: new Map(names.map((name) => [name, `${name}!`])),
  };
  for (const view of [viewContact([{ ...record({}), values: odd }]), viewClaim({ ...claim(1, {}), values: odd })]) {
    expect([...view.tags]).toEqual(['__proto__', 'constructor', 'toString']);
    expect(view.attributes.get('__proto__')).toBe('__proto__!');
    expect(view.attributes.size).toBe(3);
  }
});

test('throws for a contact without a record', () => {
  expect(() => viewContact([])).toThrow(RangeError);
});

describe('a handle', () => {
  const sent: SentValues = {
    fields: { contactEmailaddress: 'ann@example.com', contactTitle: 'Dr', contactMobile: '' },
    tags: { vip: true },
    attributes: { size: 'L', colour: '' },
  };

  test.each([
    ['open', {}],
    ['accepted', accepted],
    ['voided', voided],
  ])('shows the values of a claim, none of them as claimed: %s', (_, change) => {
    const view = viewClaim(claim(1, sent, change));
    expect(view.fields).toEqual({
      ...Object.fromEntries(contactFields.map((name) => [name, ''])),
      contactEmailaddress: 'ann@example.com',
      contactTitle: 'Dr',
    });
    expect([...view.tags]).toEqual(['vip']);
    expect([...view.attributes]).toEqual([['size', 'L']]);
    expect(view.claimed).toEqual([]);
  });
});

describe('a browser that sends more values later', () => {
  test('replaces its own values, keeps values that it omits or sends empty, and accumulates tags', () => {
    const before = values({
      fields: { contactTitle: 'Dr', contactMobile: '1', contactJobRole: 'cook' },
      tags: { a: true },
      attributes: { size: 'L', colour: 'red', shape: 'round' },
    });
    const newer = values({
      fields: { contactTitle: 'Prof', contactMobile: '', contactLastname: 'Lee' },
      tags: { b: true, a: false },
      attributes: { size: 'S', colour: '', shape: null, weight: '1' },
    });
    expect(mergeClaim(before, newer)).toEqual(
      values({
        fields: { contactTitle: 'Prof', contactMobile: '1', contactJobRole: 'cook', contactLastname: 'Lee' },
        tags: { a: true, b: true },
        attributes: { size: 'S', colour: 'red', shape: 'round', weight: '1' },
      }),
    );
  });

  test('does not modify its arguments', () => {
    const before = values({ tags: { a: true } });
    const newer = values({ tags: { b: true } });
    mergeClaim(before, newer);
    expect([before.tags.size, newer.tags.size]).toEqual([1, 1]);
  });
});

describe('an external ID', () => {
  const ofPage = (sent: SentValues, ...claims: Claim[]) => ({ ...record(sent, ...claims), externalIDVerified: false });
  const shown = (...records: ContactRecord[]) => {
    const { fields, claimed } = viewContact(records);
    return [fields.contactExternalID, claimed];
  };
  const id = (contactExternalID: string) => ({ fields: { contactExternalID } });

  test.each<[string, ContactRecord[], unknown]>([
    ['is the contact’s own', [record(id('7'), claim(1, id('8')))], ['7', []]],
    ['is claimed as long as only pages have sent it', [ofPage(id('7'))], ['7', ['contactExternalID']]],
    [
      'is not claimed once a claim with it is accepted',
      [ofPage(id('7'), claim(1, id('7'), { accepted: true }))],
      ['7', []],
    ],
    [
      'remains claimed when another external ID is accepted',
      [ofPage(id('7'), claim(1, id('8'), { accepted: true }))],
      ['7', ['contactExternalID']],
    ],
    [
      'in a claim does not fill an empty field, because it may be another contact’s',
      [record({}, claim(1, id('8'), { accepted: true }))],
      ['', []],
    ],
    ['in a voided claim is not shown', [record({}, claim(1, id('8'), { voided: true }))], ['', []]],
    ['that was cleared remains cleared', [record(id(''), claim(1, id('8')))], ['', []]],
    [
      'from a merged record is used if the contact has none',
      [record({}, claim(1, id('8'))), record(id('9'))],
      ['9', []],
    ],
    ['from a merged record does not replace the contact’s own', [record(id('7')), record(id('9'))], ['7', []]],
  ])('%s', (_, records, expected) => {
    expect(shown(...records)).toEqual(expected);
  });

  test('does not keep its contact from showing a merged record’s address', () => {
    const address = (contactEmailaddress: string) => record({ fields: { contactEmailaddress } });
    const { fields } = viewContact([record(id('7')), address('ann@example.com'), address('ben@example.com')]);
    expect(fields.contactEmailaddress).toBe('ann@example.com');
  });
});

describe('for any records', () => {
  const name = fc.constantFrom('a', 'b', '__proto__');
  const text = fc.constantFrom('', 'x', 'y');
  const anyValues: fc.Arbitrary<Values> = fc.record({
    fields: fc.record(Object.fromEntries(contactFields.map((field) => [field, text])), { requiredKeys: [] }),
    tags: fc.array(fc.tuple(name, fc.boolean())).map((entries) => new Map(entries)),
    attributes: fc.array(fc.tuple(name, fc.option(text))).map((entries) => new Map(entries)),
  });
  const flags = { accepted: fc.boolean(), voided: fc.boolean(), newestLink: fc.nat({ max: 3 }) };
  // Claims are numbered across all records.
  const anyRecords: fc.Arbitrary<ContactRecord[]> = fc
    .array(
      fc.record({
        values: anyValues,
        verified: fc.boolean(),
        externalIDVerified: fc.boolean(),
        claims: fc.array(fc.record({ values: anyValues, ...flags }), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((records) =>
      records.map((one, contact) => ({
        ...one,
        claims: one.claims.map((each, nth) => ({ ...each, claim: nth * records.length + contact })),
      })),
    );
  const mapClaims = (records: ContactRecord[], change: (claims: readonly Claim[]) => Claim[]) =>
    records.map((one) => ({ ...one, claims: change(one.claims) }));

  test('claims do not replace values in records', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const bare = viewContact(mapClaims(records, () => []));
        const view = viewContact(records);
        for (const field of contactFields) if (bare.fields[field]) expect(view.fields[field]).toBe(bare.fields[field]);
        for (const [attrID, value] of bare.attributes) expect(view.attributes.get(attrID)).toBe(value);
        for (const tagID of bare.tags) expect(view.tags).toContain(tagID);
      }),
    );
  });

  test('voided claims have no effect, and the order of claims does not matter', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const view = viewContact(records);
        expect(viewContact(mapClaims(records, (claims) => claims.filter((each) => !each.voided)))).toEqual(view);
        expect(viewContact(mapClaims(records, (claims) => claims.toReversed()))).toEqual(view);
      }),
    );
  });

  test('claimed values are listed, disappear when the open claims are removed, and stay once accepted', () => {
    fc.assert(
      fc.property(anyRecords, (all) => {
        // Removes external IDs from claims, because other rules apply to them.
        const records = mapClaims(all, (claims) =>
          claims.map((each) => {
            const { contactExternalID: _, ...fields } = each.values.fields;
            return { ...each, values: { ...each.values, fields } };
          }),
        ).map((one) => ({ ...one, verified: true, externalIDVerified: true }));
        const { claimed, fields, tags, attributes } = viewContact(records);
        for (const field of contactFields) if (claimed.includes(field)) expect(fields[field]).not.toBe('');
        const shown = [
          ...[...attributes.keys()].map((id) => `contactAttr.${id}`),
          ...[...tags].map((id) => `tag.${id}`),
        ];
        expect([...contactFields, ...shown]).toEqual(expect.arrayContaining(claimed));
        const withoutOpen = viewContact(mapClaims(records, (claims) => claims.filter((each) => each.accepted)));
        for (const field of contactFields)
          expect(withoutOpen.fields[field]).toBe(claimed.includes(field) ? '' : fields[field]);
        const allAccepted = mapClaims(records, (claims) => claims.map((each) => ({ ...each, accepted: true })));
        expect(viewContact(allAccepted).claimed).toEqual([]);
        expect([...viewContact(allAccepted).tags]).toEqual([...tags]);
      }),
    );
  });

  test('repeated values change nothing, and a handle shows the whole claim', () => {
    fc.assert(
      fc.property(anyValues, anyValues, (before, newer) => {
        const once = mergeClaim(before, newer);
        expect(mergeClaim(once, newer)).toEqual(once);
        const view = viewClaim({ values: once });
        for (const field of contactFields)
          expect(view.fields[field]).toBe(newer.fields[field] || before.fields[field] || '');
        expect(new Map(view.attributes)).toEqual(new Map(once.attributes));
      }),
    );
  });
});
