/** The names under which people are shown. */

interface Named {
  readonly contactUUID: string;
  readonly contactFirstname: string;
  readonly contactLastname: string;
  readonly contactEmailaddress: string;
  readonly contactExternalID: string;
  readonly userUUID?: string;
}

/** The name, the e-mail address or an ID: the first of them that there is. */
export const nameOfPerson = (person: Named): string =>
  `${person.contactFirstname} ${person.contactLastname}`.trim() ||
  person.contactEmailaddress ||
  person.contactExternalID ||
  (person.contactUUID ? `Contact ${person.contactUUID.slice(0, 6)}` : nameOfUser(person.userUUID ?? ''));

/** A name by which a reader tells an anonymous browser from others. Sites that make IDs themselves often begin all of them alike. */
export const nameOfUser = (userUUID: string): string => `Visitor ${userUUID.slice(-6)}`;

/** A hue from 0 to 359, always the same for an ID. */
export const hueOf = (id: string): number => {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + character.charCodeAt(0)) % 3_600;
  return hash % 360;
};
