/** The published fields of a contact that hold plain text, in the order in which they are listed. */
export const contactFields = [
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

/**
 * What was said of a contact; what is absent was never said. In a contact's own record taking away is said too: a field
 * '', a tag false, an attribute null. A claim can only give: there, these three and an attribute '' count as not said.
 * Tags and attributes are Maps because their IDs are anybody's choice, `__proto__` included.
 */
export interface Values {
  readonly fields: Readonly<Partial<Record<ContactField, string>>>;
  readonly tags: ReadonlyMap<string, boolean>;
  readonly attributes: ReadonlyMap<string, string | null>;
}

/** What one browser said of a contact. `accepted` by the account's owner: as good as the contact's own values. */
export interface Claim {
  readonly claim: number;
  readonly values: Values;
  readonly accepted: boolean;
  readonly voided: boolean;
  /** The sequence of its user's newest link to the contact that isn't voided; 0 where there is none. */
  readonly newestLink: number;
}

/** A contact as it is kept: its own values, and beside them what browsers claimed. */
export interface ContactRecord {
  readonly contact: number;
  readonly values: Values;
  readonly addressVerified: boolean;
  readonly claims: readonly Claim[];
}

/** A contact as it is read. */
export interface ContactView {
  /** '' where there is no value. */
  readonly fields: Record<ContactField, string>;
  /** The tags that the contact has, ascending by ID. */
  readonly tags: ReadonlySet<string>;
  /** Ascending by ID. */
  readonly attributes: ReadonlyMap<string, string>;
  /** What is shown on the word of an open claim only: fields, then `contactAttr.<attrID>`, then `tag.<tagID>`. */
  readonly claimed: string[];
}

/** One source of values; earlier layers win over later ones. */
interface Layer {
  readonly values: Values;
  readonly open: boolean;
}

/** What decided about one name. */
interface Said<Value> {
  readonly value: Value;
  readonly open: boolean;
}

/** A claim's values with everything left out that a claim can't say. */
const given = ({ fields, tags, attributes }: Values): Values => ({
  fields: Object.fromEntries(contactFields.flatMap((name) => (fields[name] ? [[name, fields[name]]] : []))),
  tags: new Map([...tags].filter(([, has]) => has)),
  attributes: new Map([...attributes].filter(([, value]) => value)),
});

const fieldsOf = ({ fields }: Values): [ContactField, string][] =>
  contactFields.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]]));

/** For each name what the first layer says that says anything of it; ascending by name. */
const firstSaid = <Name extends string, Value>(
  layers: readonly Layer[],
  entriesOf: (values: Values) => Iterable<readonly [Name, Value]>,
): Map<Name, Said<Value>> => {
  const said = new Map<Name, Said<Value>>();
  for (const { values, open } of layers) {
    for (const [name, value] of entriesOf(values)) if (!said.has(name)) said.set(name, { value, open });
  }
  return new Map([...said].sort(([a], [b]) => (a < b ? -1 : 1)));
};

const textOf = (fields: ReadonlyMap<ContactField, Said<string>>) =>
  Object.fromEntries(contactFields.map((name) => [name, fields.get(name)?.value ?? ''])) as ContactView['fields'];

const view = (layers: readonly Layer[]): ContactView => {
  const fields = firstSaid(layers, fieldsOf);
  const attributes = [...firstSaid(layers, (values) => values.attributes)];
  const tags = [...firstSaid(layers, (values) => values.tags)].filter(([, { value }]) => value);
  return {
    fields: textOf(fields),
    tags: new Set(tags.map(([tagID]) => tagID)),
    attributes: new Map(attributes.flatMap(([attrID, { value }]) => (value === null ? [] : [[attrID, value]]))),
    claimed: [
      ...contactFields.filter((name) => fields.get(name)?.open),
      ...attributes.flatMap(([attrID, { open }]) => (open ? [`contactAttr.${attrID}`] : [])),
      ...tags.flatMap(([tagID, { open }]) => (open ? [`tag.${tagID}`] : [])),
    ],
  };
};

const addressOf = ({ fields: { contactEmailaddress } }: Values): Values => ({
  fields: contactEmailaddress ? { contactEmailaddress } : {},
  tags: new Map(),
  attributes: new Map(),
});

const withoutAddress = ({ fields: { contactEmailaddress, ...fields }, tags, attributes }: Values): Values => ({
  fields,
  tags,
  attributes,
});

/** The claims that decide first come first; those of one user by number. */
export const byWeight = (a: Omit<Claim, 'values'>, b: Omit<Claim, 'values'>): number =>
  Number(a.voided) - Number(b.voided) ||
  Number(b.accepted) - Number(a.accepted) ||
  b.newestLink - a.newestLink ||
  a.claim - b.claim;

/**
 * What a read of a contact shows. `records` are its own, first, and those of the contacts merged into it, ascending by
 * contact. For each field, attribute and tag the first that says anything of it decides: its own record, the merged
 * records, accepted claims, open claims, whichever record they are of; voided claims never. Among accepted claims, and among
 * open ones, that of the user with the newest link to its contact decides: claims that were made beforehand don't stand in
 * the way of hers.
 * So a claim fills what is empty and replaces nothing, and what was cleared on purpose stays cleared.
 * The e-mail address is always the first record's own, and claimed until it is verified.
 */
export const viewContact = (records: readonly ContactRecord[]): ContactView => {
  const [kept, ...merged] = records;
  if (!kept) throw new RangeError('a contact is viewed from its own record, and none was given');
  const claims = records
    .flatMap((record) => record.claims)
    .filter((claim) => !claim.voided)
    .sort(byWeight);
  return view([
    { values: addressOf(kept.values), open: !kept.addressVerified },
    { values: kept.values, open: false },
    ...merged.map(({ values }) => ({ values: withoutAddress(values), open: false })),
    ...claims.map(({ values, accepted }) => ({ values: given(withoutAddress(values)), open: !accepted })),
  ]);
};

/** What a handle shows: what this browser itself said, accepted, voided or not, and nothing else of the contact. */
export const viewClaim = (claim: Pick<Claim, 'values'>): ContactView =>
  view([{ values: given(claim.values), open: false }]);

/**
 * A browser's claim after it has said more: newer values win over its own older ones, an absent or empty one keeps what
 * was there, and tags are united.
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
