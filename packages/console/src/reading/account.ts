/** The account that is signed in: its names of events, attributes, tags and profiles, and its time zone. */

import type { AnswerFor } from '@firsthand/client';
import { computed, signal } from '@preact/signals';
import { api } from '../api.ts';
import { session } from '../session.ts';

export type Account = AnswerFor<'getAccount'>['account'];

/** undefined: not read yet. */
export const account = signal<Account | undefined>(undefined);

/** Reads it, again after a change. */
export const readAccount = async (): Promise<void> => {
  const { account: read } = await api.getAccount({});
  account.value = read;
};

export const timezone = computed(() => account.value?.accountTimezone ?? 'UTC');
/** Whether the session may change contacts and the catalogue. */
export const mayChange = computed(() => session.value?.kind === 'editor' || session.value?.kind === 'server');
/** Whether the session may do everything: only then the account lists tokens. */
export const isOwner = computed(() => account.value?.token !== undefined);

const names = computed(() => ({
  tag: new Map(account.value?.tag.map(({ tagID, tagName }) => [tagID, tagName])),
  profile: new Map(account.value?.profile.map(({ profileID, profileName }) => [profileID, profileName])),
  attr: new Map(account.value?.attr.map(({ attrID, attrName }) => [attrID, attrName])),
  event: new Map(account.value?.event.map(({ eventID, eventName }) => [String(eventID), eventName])),
}));

/** The name of a catalogue's entry; its ID where it has none. */
export const nameOf = (catalogue: 'tag' | 'profile' | 'attr' | 'event', id: string): string =>
  names.value[catalogue].get(id) ?? id;

/** The currency of sums; '' for none. */
export const currency = computed(() => account.value?.accountCurrency ?? '');

/** The attribute that holds what was paid: the first that the catalogue calls a currency. */
export const revenueAttrID = computed(
  () => account.value?.attr.find(({ attrType }) => attrType === 'currency')?.attrID,
);
