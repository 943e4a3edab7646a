/** The people who may sign in, for pages that name who did something. */
import type { AnswerFor } from '@firsthand/client';
import { signal } from '@preact/signals';

export type Member = AnswerFor<'listMembers'>['member'][number];

/** undefined: not read yet. */
export const members = signal<readonly Member[] | undefined>(undefined);

/** The name of a member; undefined for one who was removed, or is not known yet. */
export const nameOfMember = (memberID: string | undefined): string | undefined => {
  const found = members.value?.find((member) => member.memberID === memberID);
  return found && (found.memberName || found.memberEmailaddress);
};
