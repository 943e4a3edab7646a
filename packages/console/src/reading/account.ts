/** The current session's account. */

import type { ResponseFor } from '@firsthand/client';
import { computed, signal } from '@preact/signals';
import { api } from '../api.ts';
import { session } from '../session.ts';

export type Account = ResponseFor<'getAccount'>['account'];

/** undefined: not loaded yet. */
export const account = signal<Account | undefined>(undefined);

/** Loads or reloads the account. */
export const readAccount = async (): Promise<void> => {
  const { account: read } = await api.getAccount({});
  account.value = read;
};

export const timezone = computed(() => account.value?.accountTimezone ?? 'UTC');
/** Whether the session may change contacts and the catalogue. */
export const canEdit = computed(() => session.value?.kind === 'editor' || session.value?.kind === 'server');
/** Whether the session may do everything. Only then does getAccount return tokens. */
export const isOwner = computed(() => account.value?.token !== undefined);

const names = computed(() => ({
  tag: new Map(account.value?.tag.map(({ tagID, tagName }) => [tagID, tagName])),
  profile: new Map(account.value?.profile.map(({ profileID, profileName }) => [profileID, profileName])),
  attr: new Map(account.value?.attr.map(({ attrID, attrName }) => [attrID, attrName])),
  event: new Map(account.value?.event.map(({ eventID, eventName }) => [String(eventID), eventName])),
}));

/** A catalogue entry's name; its ID if it has none. */
export const nameOf = (catalogue: 'tag' | 'profile' | 'attr' | 'event', id: string): string =>
  names.value[catalogue].get(id) ?? id;

/** The currency for revenue; '' if none is set. */
export const currency = computed(() => account.value?.accountCurrency ?? '');

/** The attribute with the revenue: the first one of type `currency` in the catalogue. */
export const revenueAttrID = computed(
  () => account.value?.attr.find(({ attrType }) => attrType === 'currency')?.attrID,
);
