import type { Member } from '../../../reading/member-names.ts';

export type Role = Member['memberRole'];

/** What each role may do. */
export const roles: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything, and changes nothing.',
  editor: 'Also changes contacts, the catalogue and segments. Erases nothing.',
  owner: 'Does everything: tokens, people, sites, erasing.',
};
