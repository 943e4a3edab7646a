import { api } from '../api.ts';
import { isOwner } from './account.ts';
import { members } from './member-names.ts';

/** Loads or reloads the members. Only owners may read them. */
export const readMembers = async (): Promise<void> => {
  if (!isOwner.peek()) return;
  const { member } = await api.listMembers({});
  members.value = member;
};
