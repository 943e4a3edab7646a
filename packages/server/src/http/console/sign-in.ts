/** Signs in to the console: by a token, by the code of a one-time link, by a password, or by a passkey. */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { Context } from 'hono';
import { parseAddress } from '../../identity/email-address.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { bindingsOf } from '../access/client-address.ts';
import { isLocalVisitor } from '../access/loopback.ts';
import { maxInCookie, sessionPrefix } from './cookie.ts';
import { type Fields, optionalText, requiredText } from './form-fields.ts';
import type { MemberPasswords } from './member-passwords.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { checkLength } from './passwords.ts';
import type { SignInCodes } from './sign-in-codes.ts';

/** The source of a session: a token, that of a member included, or a code, for which `token` and `tokenID` are null. */
export interface Owner {
  readonly kind: TokenKind;
  readonly account: number;
  readonly token: number | null;
  readonly tokenID: string | null;
  /** The hash of the password that signed in. */
  readonly password?: string;
}

interface Surroundings {
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly codes: SignInCodes;
  /** The origin at which links with a code sign in, besides this machine. */
  readonly consoleOrigin: string | undefined;
  readonly memberPasswords: MemberPasswords;
  readonly passkeys: Passkeys;
}

const notTogether = 'the e-mail address and the password do not belong together';
const notTogetherOrLocked = `${notTogether}, or you have not signed in from here lately: many sign-ins with this e-mail address have failed, so try again in an hour or use a passkey`;

export const createSignIn = ({ authenticate, codes, consoleOrigin, memberPasswords, passkeys }: Surroundings) => {
  const ofToken = async (text: string, c: Context): Promise<Owner> => {
    const { kind, account, token, tokenID } = await authenticate(text, c);
    if (account === null || kind === 'browser' || kind === 'operator' || text.startsWith(sessionPrefix)) {
      const message = `the console takes a server, editor or viewer token; this one is a ${kind} token`;
      throw new Refusal('token_kind', { field: 'tokenUUID', message });
    }
    return { kind, account, token, tokenID };
  };

  const ofCode = (code: string, c: Context): Owner => {
    const { incoming } = bindingsOf(c);
    const { headers } = c.req.raw;
    const isLocal = isLocalVisitor({ remoteAddress: incoming?.socket?.remoteAddress, headers });
    // A browser does not let a page set Origin.
    const isAtConsole = consoleOrigin !== undefined && headers.get('origin') === consoleOrigin;
    const account = isLocal || isAtConsole ? codes.take(code) : undefined;
    if (account !== undefined) return { kind: 'server', account, token: null, tokenID: null };
    const message =
      'the link does not sign in: it works once, within ten minutes of the start of the server, on the same machine or at CONSOLE_ORIGIN. `firsthand login-link` prints another link; or sign in with a token';
    throw new Refusal('invalid_token', { field: 'code', message });
  };

  /** The members with this e-mail address and password. Does not say whether the one or the other is wrong. */
  const ofPassword = async (given: Fields, c: Context): Promise<readonly Owner[]> => {
    const password = requiredText(given, 'password');
    checkLength(password);
    const emailaddress = parseAddress(requiredText(given, 'emailaddress'));
    const accountUUID = optionalText(given, 'accountUUID');
    const members = emailaddress === undefined ? [] : await memberPasswords.findMembers(c, emailaddress, accountUUID);
    const { matches, onlyKnown } = await memberPasswords.findPasswordMatches(c, password, emailaddress ?? '', members);
    if (matches.length === 0) {
      const message = onlyKnown ? notTogetherOrLocked : notTogether;
      throw new Refusal('invalid_token', { field: 'password', message });
    }
    const memberIDs = matches.map(({ memberID }) => memberID);
    await memberPasswords.noteNetwork(c, emailaddress as string, memberIDs);
    // A browser has no room for more sessions.
    return matches
      .slice(0, maxInCookie)
      .map(({ kind, account, token, tokenID, password: hash }) => ({ kind, account, token, tokenID, password: hash }));
  };

  return {
    /** The owners of the sessions that a sign-in begins: more than one where a password is that of members of several accounts. */
    async find(given: Fields, c: Context): Promise<readonly Owner[]> {
      const [tokenUUID, code] = [optionalText(given, 'tokenUUID'), optionalText(given, 'code')];
      if (tokenUUID !== undefined) return [await ofToken(tokenUUID, c)];
      if (code !== undefined) return [ofCode(code, c)];
      if (given.passkey !== undefined) return [await passkeys.signIn(given.passkey, c)];
      if (optionalText(given, 'emailaddress') !== undefined) return ofPassword(given, c);
      throw new Refusal('missing_field', { field: 'tokenUUID' });
    },
  };
};
export type SignIn = ReturnType<typeof createSignIn>;
