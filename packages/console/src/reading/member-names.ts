/** The names of the account's members, for pages that show who did something. */
import type { ResponseFor } from '@firsthand/client';
import { signal } from '@preact/signals';

export type Member = ResponseFor<'listMembers'>['member'][number];

/** undefined: not loaded yet. */
export const members = signal<readonly Member[] | undefined>(undefined);

/** A member's name; undefined if the member was removed or has not been loaded. */
export const nameOfMember = (memberID: string | undefined): string | undefined => {
  const member = members.value?.find((member) => member.memberID === memberID);
  return member && (member.memberName || member.memberEmailaddress);
};
