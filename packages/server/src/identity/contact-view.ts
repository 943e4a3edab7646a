import { type ContactMerges, noContactMerges, uniteEntries } from './merged-entries.ts';

/** A contact's published text fields, in the order in which responses list them. */
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

/** A field that identifies a contact: no two contacts of an account have the same value. */
export type KeyField = 'contactExternalID' | 'contactEmailaddress';
export type PlainField = Exclude<ContactField, KeyField>;

/** The fields that don't identify a contact. */
export const plainFields = contactFields.filter(
  (name): name is PlainField => name !== 'contactExternalID' && name !== 'contactEmailaddress',
);

/**
 * The values of a contact's own record or of a claim; an absent name was never set. Tags and attributes are Maps
 * because clients choose the IDs, and an ID can be `__proto__`.
 *
 * A contact's own record can also mark a value as removed: a field '', a tag false, an attribute null. A claim can only
 * add values: there, these three and an attribute '' count as absent.
 */
export interface Values {
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  readonly tags: ReadonlyMap<string, boolean>;
  readonly attributes: ReadonlyMap<string, string | null>;
}

/** The values that one browser sent for a contact. */
export interface Claim {
  readonly claim: number;
  readonly values: Values;
  /** Whether the account's owner confirmed the values, which are then not shown as claimed. */
  readonly accepted: boolean;
  readonly voided: boolean;
  /** The sequence of the user's newest link to the contact that is not voided; 0 if there is none. */
  readonly newestLink: number;
}

/** A stored contact: its own values, and the claims of browsers. */
export interface ContactRecord {
  readonly values: Values;
  /** Whether the address was sent with a server token or a valid contactProof. */
  readonly verified: boolean;
  /** Whether the external ID was sent with a server token or a valid contactProof, or is from an accepted claim. */
  readonly externalIDVerified: boolean;
  readonly claims: readonly Claim[];
}

/** A contact as reads return it. */
export interface ContactView {
  /** '' for a field without a value. */
  readonly fields: Record<ContactField, string>;
  /** The contact's tags, ascending by ID. */
  readonly tags: ReadonlySet<string>;
  /** Ascending by ID. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The names of values that come only from an open claim: fields, then `contactAttr.<attrID>`, then `tag.<tagID>`. */
  readonly claimed: string[];
}

/** A source of values. Earlier layers take precedence over later ones. */
interface Layer {
  readonly values: Values;
  /** Whether the values are only claimed. */
  readonly open: boolean;
}

/** Returns a claim's values, except values that a claim can't set (see `Values`). */
const settableValues = ({ fields, tags, attributes }: Values): Values => ({
  fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value)),
  tags: new Map([...tags].filter(([, has]) => has)),
  attributes: new Map([...attributes].filter(([, value]) => value)),
});

/** Returns the value of each name from the first layer that has one, ascending by name. */
const firstValues = <Name extends string, Value>(
  layers: readonly Layer[],
  entriesOf: (values: Values) => Iterable<readonly [Name, Value]>,
) => {
  const first = new Map<Name, { readonly value: Value; readonly open: boolean }>();
  for (const { values, open } of layers) {
    for (const [name, value] of entriesOf(values)) if (!first.has(name)) first.set(name, { value, open });
  }
  return new Map([...first].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/**
 * Replaces merged IDs. If several IDs are merged into one, a value that was not removed takes precedence over a removed
 * one.
 */
const withMergedIDs = ({ fields, tags, attributes }: Values, { profile, tag, attr }: ContactMerges): Values => ({
  fields:
    fields.contactProfileID === undefined
      ? fields
      : { ...fields, contactProfileID: profile.targetOf(fields.contactProfileID) },
  tags: tag.groups.length === 0 ? tags : new Map(uniteEntries(tags, tag, (has) => has)),
  attributes:
    attr.groups.length === 0 ? attributes : new Map(uniteEntries(attributes, attr, (value) => value !== null)),
});

const view = (sources: readonly Layer[], merges: ContactMerges): ContactView => {
  const layers =
    merges === noContactMerges
      ? sources
      : sources.map((layer) => ({ ...layer, values: withMergedIDs(layer.values, merges) }));
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

/** Sorts claims by precedence: not voided first, then accepted, then by newest link, then by claim number. */
export const compareClaims = (a: Omit<Claim, 'values'>, b: Omit<Claim, 'values'>): number =>
  Number(a.voided) - Number(b.voided) ||
  Number(b.accepted) - Number(a.accepted) ||
  b.newestLink - a.newestLink ||
  a.claim - b.claim;

const onlyField = (name: ContactField, value: string, open: boolean): Layer => ({
  values: { fields: { [name]: value }, tags: new Map(), attributes: new Map() },
  open,
});

/**
 * Returns the layers for the e-mail address and external ID of a record. Both can be stored in the record but still be
 * only claimed.
 */
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
 * Returns a contact as reads return it. `records` has the contact's own record, then the records of contacts merged
 * into it, ascending by contact.
 *
 * - For each field, attribute and tag, the first source with a value wins: the contact's own record, the merged
 *   records, the accepted claims, the open claims. Voided claims are ignored.
 * - Among accepted claims, and among open claims, the claim of the user with the newest link wins. So claims that other
 *   people made in advance can't override the person's own claims.
 * - So a claim fills empty values but replaces nothing, and a cleared value stays cleared.
 * - The e-mail address and the external ID identify a contact, so they come only from a record, never from a claim,
 *   where they might identify another contact. They count as claimed until they are verified or a claim with them is
 *   accepted.
 *
 * `merges` maps merged IDs; without it, values have their stored IDs.
 */
export const viewContact = (
  records: readonly ContactRecord[],
  merges: ContactMerges = noContactMerges,
): ContactView => {
  const [ownRecord] = records;
  if (!ownRecord) throw new RangeError("the contact's own record is missing");
  const claims = records
    .flatMap((record) => record.claims)
    .filter((claim) => !claim.voided)
    .sort(compareClaims);
  return view(
    [
      ...records.flatMap(keyLayersOf),
      ...records.map(({ values }) => ({ values, open: false })),
      ...claims.map(({ values, accepted }) => {
        const { contactExternalID: _, contactEmailaddress: __, ...fields } = settableValues(values).fields;
        return { values: { ...settableValues(values), fields }, open: !accepted };
      }),
    ],
    merges,
  );
};

/** Returns one claim's values: open, accepted or voided. */
export const viewClaim = (claim: Pick<Claim, 'values'>, merges: ContactMerges = noContactMerges): ContactView =>
  view([{ values: settableValues(claim.values), open: false }], merges);

/**
 * Adds newer values to a browser's claim. A newer value replaces the older one, an absent or empty value keeps it, and
 * tags accumulate.
 */
export const mergeClaim = (older: Values, newer: Values): Values => {
  const base = settableValues(older);
  const added = settableValues(newer);
  return {
    fields: { ...base.fields, ...added.fields },
    tags: new Map([...base.tags, ...added.tags]),
    attributes: new Map([...base.attributes, ...added.attributes]),
  };
};
