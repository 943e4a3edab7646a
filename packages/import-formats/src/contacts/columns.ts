/**
 * Recognizes the columns of contact files from Mautic, Klaviyo, HubSpot, Mailchimp and spreadsheets, and of Firsthand's
 * own export.
 */

const contactFields = [
  ...(['contactExternalID', 'contactEmailaddress', 'contactTitle', 'contactFirstname', 'contactLastname'] as const),
  ...(['contactTelephone', 'contactMobile', 'contactJobRole', 'contactProfileID'] as const),
  ...(['contactTagID', 'contactStatus'] as const),
];
const attributePrefix = 'contactAttr.';

/** What a column contains: an importContacts field, or `contactAttr.` and an attribute's ID. */
export type ContactTarget = (typeof contactFields)[number] | `${typeof attributePrefix}${string}`;

export const contactTargets: readonly string[] = [...contactFields, `${attributePrefix}<attrID>`];

export const isContactTarget = (text: string): text is ContactTarget =>
  (contactFields as readonly string[]).includes(text) ||
  (text.startsWith(attributePrefix) && text.length > attributePrefix.length);

/** The attrID of a target; undefined for a field. */
export const attrIDOf = (target: ContactTarget): string | undefined =>
  target.startsWith(attributePrefix) ? target.slice(attributePrefix.length) : undefined;

const columnsByTool: Readonly<Record<string, Readonly<Record<string, ContactTarget>>>> = {
  mautic: {
    title: 'contactTitle',
    firstname: 'contactFirstname',
    lastname: 'contactLastname',
    email: 'contactEmailaddress',
    phone: 'contactTelephone',
    mobile: 'contactMobile',
    position: 'contactJobRole',
    tags: 'contactTagID',
    doNotEmail: 'contactStatus',
  },
  klaviyo: {
    Email: 'contactEmailaddress',
    'First Name': 'contactFirstname',
    'Last Name': 'contactLastname',
    'Phone Number': 'contactTelephone',
    Title: 'contactJobRole',
    'Email Marketing Consent': 'contactStatus',
  },
  hubspot: {
    Salutation: 'contactTitle',
    'Mobile Phone Number': 'contactMobile',
    'Job Title': 'contactJobRole',
    'Unsubscribed from all email': 'contactStatus',
  },
  mailchimp: {
    'Email Address': 'contactEmailaddress',
    TAGS: 'contactTagID',
    UNSUB_TIME: 'contactStatus',
  },
  spreadsheet: {
    'Given Name': 'contactFirstname',
    Forename: 'contactFirstname',
    Surname: 'contactLastname',
    'Family Name': 'contactLastname',
    Telephone: 'contactTelephone',
    'Telephone Number': 'contactTelephone',
    'Mobile Number': 'contactMobile',
    'Mobile Phone': 'contactMobile',
    'Cell Phone': 'contactMobile',
    Job: 'contactJobRole',
    'Job Role': 'contactJobRole',
  },
  // Contains tag names, which are also their IDs unless the catalogue has different names for them.
  firsthand: { tag: 'contactTagID' },
};

const exact = new Map(Object.values(columnsByTool).flatMap((columns) => Object.entries(columns)));
const fold = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');
/** If two column names are the same once they are folded, the first one counts. */
const folded = new Map([...exact].toReversed().map(([name, target]) => [fold(name), target]));

/** Returns what a column contains; undefined if its name is not recognized. */
const recognize = (name: string): ContactTarget | undefined => {
  const trimmed = name.trim();
  if (isContactTarget(trimmed)) return trimmed;
  return exact.get(trimmed) ?? folded.get(fold(trimmed));
};

/** What each column contains, by the column's name. Columns that are not in the mapping are not imported. */
export type ColumnMapping = ReadonlyMap<string, ContactTarget>;

/**
 * Returns what a header's columns contain. `chosen` takes precedence: it has a column's target, or undefined to leave
 * the column out. If two columns have the same content, only the first one is imported.
 */
export const mapColumns = (
  header: readonly string[],
  chosen: ReadonlyMap<string, ContactTarget | undefined> = new Map(),
): ColumnMapping => {
  const mapping = new Map<string, ContactTarget>();
  const taken = new Set<ContactTarget | undefined>(chosen.values());
  for (const name of header) {
    const target = chosen.has(name) ? chosen.get(name) : recognize(name);
    if (target === undefined || (taken.has(target) && !chosen.has(name))) continue;
    taken.add(target);
    mapping.set(name, target);
  }
  return mapping;
};
