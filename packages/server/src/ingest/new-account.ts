import type { InputOf } from '@firsthand/contract/operations';
import { parseOrigin } from '@firsthand/contract/origins';
import { nanoid } from 'nanoid';
import type { Catalogues, NewAccount } from '../store/store.ts';
import { createTokenText, newToken } from './token.ts';

/**
 * Returns the canonical forms of origins, without duplicates, for comparison with a request's origin. The contract has
 * validated the origins.
 */
export const canonicalOrigins = (origins: readonly string[]): string[] => [
  ...new Set(origins.map((origin) => parseOrigin(origin) as string)),
];

type CheckedCatalogues = Pick<InputOf<'updateAccount'>, 'profile' | 'tag' | 'attr' | 'event' | 'defaultProfileID'>;

/** Returns the profiles in a request, including the default profile. */
const profilesOf = ({ profile, defaultProfileID: profileID }: CheckedCatalogues): CheckedCatalogues['profile'] =>
  !profileID || profile?.some((entry) => entry.profileID === profileID) ? profile : [...(profile ?? []), { profileID }];

/** Returns the catalogue entries in a request as the store expects them, with all IDs as text. */
export const cataloguesOf = (input: CheckedCatalogues): Catalogues =>
  toCatalogues({ ...input, profile: profilesOf(input) });

const toCatalogues = ({ profile, tag, attr, event }: CheckedCatalogues): Catalogues => ({
  ...(profile && { profile: profile.map(({ profileID: id, profileName: name, ...rest }) => ({ id, name, ...rest })) }),
  ...(tag && { tag: tag.map(({ tagID: id, tagName: name, ...rest }) => ({ id, name, ...rest })) }),
  ...(attr && {
    attr: attr.map(({ attrID: id, attrName: name, attrType: type, ...rest }) => ({ id, name, type, ...rest })),
  }),
  ...(event && {
    event: event.map(({ eventID, eventName: name, ...rest }) => ({
      id: eventID === undefined ? null : String(eventID),
      name,
      ...rest,
    })),
  }),
});

/**
 * Returns an account to create, with a browser token and a server token, and their texts. The server token's text is
 * not stored.
 */
export const newAccount = (
  input: InputOf<'createAccount'>,
  contacts: NewAccount['contacts'],
  { time, createdBy }: { time: number; createdBy: number | null },
): { account: NewAccount; browserTokenUUID: string; serverTokenUUID: string } => {
  const browserTokenUUID = createTokenText('browser');
  const serverTokenUUID = createTokenText('server');
  return {
    browserTokenUUID,
    serverTokenUUID,
    account: {
      accountUUID: nanoid(),
      accountName: input.accountName,
      accountOrigin: canonicalOrigins(input.accountOrigin ?? []),
      accountTimezone: input.accountTimezone ?? 'UTC',
      accountCurrency: input.accountCurrency ?? '',
      strict: input.strict ?? false,
      browserCatalogue: input.browserCatalogue ?? false,
      enrich: input.enrich ?? true,
      defaultProfileID: input.defaultProfileID ?? '',
      userIDIsEmailaddress: input.userIDIsEmailaddress ?? false,
      catalogues: cataloguesOf(input),
      tokens: [
        newToken('browser', { text: browserTokenUUID, tokenID: nanoid(), tokenName: '', time, createdBy }),
        newToken('server', { text: serverTokenUUID, tokenID: nanoid(), tokenName: '', time, createdBy }),
      ],
      contacts,
      time,
    },
  };
};
