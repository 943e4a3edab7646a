import { api } from '../api.ts';
import { isOwner } from './account.ts';
import { members } from './member-names.ts';

/** Reads the people who may sign in, again after a change. Only an owner may. */
export const readMembers = async (): Promise<void> => {
  if (!isOwner.peek()) return;
  const { member } = await api.listMembers({});
  members.value = member;
};
