/** Display names of people. */

interface PersonNames {
  readonly contactUUID: string;
  readonly contactFirstname: string;
  readonly contactLastname: string;
  readonly contactEmailaddress: string;
  readonly contactExternalID: string;
  readonly userUUID?: string;
}

/** The name or, if absent, the e-mail address or, if absent, the ID. */
export const nameOfPerson = (person: PersonNames): string =>
  `${person.contactFirstname} ${person.contactLastname}`.trim() ||
  person.contactEmailaddress ||
  person.contactExternalID ||
  (person.contactUUID ? `Contact ${person.contactUUID.slice(0, 6)}` : nameOfUser(person.userUUID ?? ''));

/** A name for an anonymous browser. Uses the end of the ID, because IDs created by a site often share a prefix. */
export const nameOfUser = (userUUID: string): string => `Visitor ${userUUID.slice(-6)}`;

/** A hue from 0 to 359, derived from the ID. */
export const hueOf = (id: string): number => {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + character.charCodeAt(0)) % 3_600;
  return hash % 360;
};
