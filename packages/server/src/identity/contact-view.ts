import { type ContactMerges, noContactMerges, united } from './merged-entries.ts';

/** The published fields of a contact that hold plain text, in the order in which responses list them. */
export const contactFields = [
  'contactExternalID',
  'contactTitle',
  'contactFirstname',
  'contactLastname',
  'contactEmailaddress',
  'contactTelephone',
  'contactMobile',
  'contactJobRole',
  'contactProfileID',
] as const;

export type ContactField = (typeof contactFields)[number];

/** A field that finds its contact: no two contacts of an account have the same value. */
export type KeyField = 'contactExternalID' | 'contactEmailaddress';
export type PlainField = Exclude<ContactField, KeyField>;

/** The fields that find no contact. */
export const plainFields = contactFields.filter(
  (name): name is PlainField => name !== 'contactExternalID' && name !== 'contactEmailaddress',
);

/**
 * The values of a contact's own record or of a claim; an absent name was never set. A contact's own record can also say that a
 * value was removed: a field is '', a tag false, an attribute null. A claim can only add values: there, these three and an
 * attribute '' count as absent. Tags and attributes are Maps because clients choose their IDs, which may be `__proto__`.
 */
export interface Values {
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  readonly tags: ReadonlyMap<string, boolean>;
  readonly attributes: ReadonlyMap<string, string | null>;
}

/** The values of a contact that one browser sent. `accepted`: the account's owner confirmed them; they are not shown as claimed. */
export interface Claim {
  readonly claim: number;
  readonly values: Values;
  readonly accepted: boolean;
  readonly voided: boolean;
  /** The sequence of the user's newest link to the contact that is not voided; 0: there is none. */
  readonly newestLink: number;
}

/** A contact as it is stored: its own values, and the claims of browsers. */
export interface ContactRecord {
  readonly values: Values;
  /** The address was sent with a server token or a valid contactProof. */
  readonly verified: boolean;
  /** The external ID was sent so, or is from a claim that was accepted. */
  readonly externalIDVerified: boolean;
  readonly claims: readonly Claim[];
}

/** A contact as reads return it. */
export interface ContactView {
  /** '' for a field without a value. */
  readonly fields: Record<ContactField, string>;
  /** The tags that the contact has, ascending by ID. */
  readonly tags: ReadonlySet<string>;
  /** Ascending by ID. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The names of values that only an open claim supports: fields, then `contactAttr.<attrID>`, then `tag.<tagID>`. */
  readonly claimed: string[];
}

/** One source of values; earlier layers take precedence. `open`: the values are only claimed. */
interface Layer {
  readonly values: Values;
  readonly open: boolean;
}

/** Returns a claim's values without those that a claim can't set (see `Values`). */
const given = ({ fields, tags, attributes }: Values): Values => ({
  fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value)),
  tags: new Map([...tags].filter(([, has]) => has)),
  attributes: new Map([...attributes].filter(([, value]) => value)),
});

/** Returns the value of each name from the first layer that has one; ascending by name. */
const firstValues = <Name extends string, Value>(
  layers: readonly Layer[],
  entriesOf: (values: Values) => Iterable<readonly [Name, Value]>,
) => {
  const found = new Map<Name, { readonly value: Value; readonly open: boolean }>();
  for (const { values, open } of layers) {
    for (const [name, value] of entriesOf(values)) if (!found.has(name)) found.set(name, { value, open });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Returns values under the IDs that stand for theirs. A tag that was taken away, or an attribute that was removed, gives way to one that was not. */
const asKept = ({ fields, tags, attributes }: Values, { profile, tag, attr }: ContactMerges): Values => ({
  fields:
    fields.contactProfileID === undefined
      ? fields
      : { ...fields, contactProfileID: profile.keptOf(fields.contactProfileID) },
  tags: tag.groups.length === 0 ? tags : new Map(united(tags, tag, (has) => has)),
  attributes: attr.groups.length === 0 ? attributes : new Map(united(attributes, attr, (value) => value !== null)),
});

const view = (sources: readonly Layer[], merges: ContactMerges): ContactView => {
  const layers =
    merges === noContactMerges ? sources : sources.map((layer) => ({ ...layer, values: asKept(layer.values, merges) }));
  const fields = firstValues(layers, (values) => Object.entries(values.fields) as [ContactField, string][]);
  const textOf = (name: ContactField) => fields.get(name)?.value ?? '';
  const attributes = [...firstValues(layers, (values) => values.attributes)];
  const tags = [...firstValues(layers, (values) => values.tags)].filter(([, { value }]) => value);
  return {
    fields: Object.fromEntries(contactFields.map((name) => [name, textOf(name)])) as ContactView['fields'],
    tags: new Set(tags.map(([tagID]) => tagID)),
    attributes: new Map(attributes.flatMap(([attrID, { value }]) => (value === null ? [] : [[attrID, value]]))),
    claimed: [
      ...contactFields.filter((name) => fields.get(name)?.open),
      ...attributes.flatMap(([attrID, { open }]) => (open ? [`contactAttr.${attrID}`] : [])),
      ...tags.flatMap(([tagID, { open }]) => (open ? [`tag.${tagID}`] : [])),
    ],
  };
};

/** Sorts claims by precedence: not voided first, then accepted, then by newest link; otherwise by number. */
export const byWeight = (a: Omit<Claim, 'values'>, b: Omit<Claim, 'values'>): number =>
  Number(a.voided) - Number(b.voided) ||
  Number(b.accepted) - Number(a.accepted) ||
  b.newestLink - a.newestLink ||
  a.claim - b.claim;

const onlyField = (name: ContactField, value: string, open: boolean): Layer => ({
  values: { fields: { [name]: value }, tags: new Map(), attributes: new Map() },
  open,
});

/** The layers of a record's address and external ID, which may be claimed although they are its own. */
const keyLayersOf = ({ values, verified, externalIDVerified, claims }: ContactRecord): Layer[] => {
  const { contactEmailaddress, contactExternalID } = values.fields;
  const accepted = claims.filter((claim) => claim.accepted && !claim.voided).map((claim) => claim.values.fields);
  const isAccepted = accepted.some((fields) => fields.contactEmailaddress || !fields.contactExternalID);
  const isIDAccepted = accepted.some((fields) => fields.contactExternalID === contactExternalID);
  return [
    ...(contactEmailaddress === undefined
      ? []
      : [
          onlyField('contactEmailaddress', contactEmailaddress, contactEmailaddress !== '' && !verified && !isAccepted),
        ]),
    ...(contactExternalID === undefined
      ? []
      : [
          onlyField(
            'contactExternalID',
            contactExternalID,
            contactExternalID !== '' && !externalIDVerified && !isIDAccepted,
          ),
        ]),
  ];
};

/**
 * Returns what a read of a contact shows. `records` are its own, first, and those of the contacts merged into it, ascending by
 * contact. For each field, attribute and tag, the first source with a value decides: the contact's own record, the merged
 * records, the accepted claims, the open claims, of whichever record. Voided claims are ignored. Among accepted claims, and among
 * open ones, the claim of the user with the newest link to its contact decides, so that claims made in advance by others don't
 * override the claim of the person.
 * So a claim fills empty values and replaces nothing, and a value that was cleared stays cleared.
 * The e-mail address and the external ID find a contact, so they are shown as its own only from a contact's own record: there, one
 * counts as claimed until it is verified or a claim that gives it is accepted. Accepting a claim makes its external ID the contact's
 * own if it has none. Neither is shown from a claim, because it may be another contact's.
 * `merges` says which IDs stand for which. Without it, values have the IDs that are stored.
 */
export const viewContact = (
  records: readonly ContactRecord[],
  merges: ContactMerges = noContactMerges,
): ContactView => {
  const [kept] = records;
  if (!kept) throw new RangeError('a contact is viewed from its own record, and none was given');
  const claims = records
    .flatMap((record) => record.claims)
    .filter((claim) => !claim.voided)
    .sort(byWeight);
  return view(
    [
      ...records.flatMap(keyLayersOf),
      ...records.map(({ values }) => ({ values, open: false })),
      ...claims.map(({ values, accepted }) => {
        const { contactExternalID: _, contactEmailaddress: __, ...fields } = given(values).fields;
        return { values: { ...given(values), fields }, open: !accepted };
      }),
    ],
    merges,
  );
};

/** Returns the values of one claim, whether it is open, accepted or voided. */
export const viewClaim = (claim: Pick<Claim, 'values'>, merges: ContactMerges = noContactMerges): ContactView =>
  view([{ values: given(claim.values), open: false }], merges);

/**
 * Adds newer values to a browser's claim. A newer value replaces the older one, an absent or empty value leaves it, and tags are
 * united.
 */
export const mergeClaim = (before: Values, newer: Values): Values => {
  const older = given(before);
  const added = given(newer);
  return {
    fields: { ...older.fields, ...added.fields },
    tags: new Map([...older.tags, ...added.tags]),
    attributes: new Map([...older.attributes, ...added.attributes]),
  };
};
