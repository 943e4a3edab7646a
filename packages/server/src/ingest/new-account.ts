import type { InputOf } from '@firsthand/contract/operations';
import { parseOrigin } from '@firsthand/contract/origins';
import { nanoid } from 'nanoid';
import type { NewAccount } from '../store/store.ts';
import { cataloguesOf } from './catalogues.ts';
import { createTokenText, newToken } from './token.ts';

/** The canonical forms of origins, each once, to compare with a request's. The contract has checked that they are valid. */
export const canonicalOrigins = (origins: readonly string[]): string[] => [
  ...new Set(origins.map((origin) => parseOrigin(origin) as string)),
];

/** An account to create, with a browser token and a server token, and the texts of both. The server token's text is not stored. */
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
      strict: input.strict ?? false,
      browserCatalogue: input.browserCatalogue ?? false,
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
