/** Authenticates console sign-ins by token, one-time code, password or passkey. */
import type { TokenKind } from '@firsthand/contract/account/tokens';
import type { Context } from 'hono';
import { parseAddress } from '../../identity/email-address.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { isLocal } from '../access/loopback.ts';
import { maxSessionsPerCookie, sessionPrefix } from './cookie.ts';
import { type Fields, optionalText, requiredText } from './form-fields.ts';
import type { MemberPasswords } from './member-passwords.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { checkLength } from './passwords.ts';
import type { SignInCodes } from './sign-in-codes.ts';

/**
 * The owner of a new session: a token, including a member's, or a one-time code, for which `token` and `tokenID` are
 * null.
 */
export interface Owner {
  readonly kind: TokenKind;
  readonly account: number;
  readonly token: number | null;
  readonly tokenID: string | null;
  /** The hash of the password used to sign in. */
  readonly password?: string;
}

interface Dependencies {
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly codes: SignInCodes;
  /** The origin at which one-time links work, in addition to this machine. */
  readonly consoleOrigin: string | undefined;
  readonly memberPasswords: MemberPasswords;
  readonly passkeys: Passkeys;
}

/** The kinds of tokens that may sign in. */
const signInKinds: readonly TokenKind[] = ['viewer', 'editor', 'server'];

const wrongPassword = 'wrong e-mail address or password';
const wrongPasswordOrLocked = `${wrongPassword}, or you have not signed in from this network recently. Many sign-ins with this e-mail address have failed: try again in an hour, or use a passkey`;

export const createSignIn = ({ authenticate, codes, consoleOrigin, memberPasswords, passkeys }: Dependencies) => {
  const ofToken = async (text: string, c: Context): Promise<Owner> => {
    const { kind, account, token, tokenID } = await authenticate(text, c);
    if (account === null || !signInKinds.includes(kind) || text.startsWith(sessionPrefix)) {
      const message = `the console takes a server, editor or viewer token; this one is of kind ${kind}`;
      throw new Refusal('token_kind', { field: 'tokenUUID', message });
    }
    return { kind, account, token, tokenID };
  };

  const ofCode = (code: string, c: Context): Owner => {
    // The header can be trusted, because browsers don't let pages set Origin.
    const isAtConsole = consoleOrigin !== undefined && c.req.header('origin') === consoleOrigin;
    const account = isLocal(c) || isAtConsole ? codes.take(code) : undefined;
    if (account !== undefined) return { kind: 'server', account, token: null, tokenID: null };
    const message =
      'this sign-in link is not valid: it works once, within ten minutes, on the same machine or at CONSOLE_ORIGIN. Run `firsthand login-link` for a new link, or sign in with a token';
    throw new Refusal('invalid_token', { field: 'code', message });
  };

  /** Returns the members with this e-mail address and password. A refusal doesn't reveal which of the two is wrong. */
  const ofPassword = async (fields: Fields, c: Context): Promise<readonly Owner[]> => {
    const password = requiredText(fields, 'password');
    checkLength(password);
    const emailaddress = parseAddress(requiredText(fields, 'emailaddress'));
    const accountUUID = optionalText(fields, 'accountUUID');
    const members = emailaddress === undefined ? [] : await memberPasswords.findMembers(c, emailaddress, accountUUID);
    const { matches, onlyKnown } = await memberPasswords.findPasswordMatches(c, password, emailaddress ?? '', members);
    if (matches.length === 0) {
      const message = onlyKnown ? wrongPasswordOrLocked : wrongPassword;
      throw new Refusal('invalid_token', { field: 'password', message });
    }
    const memberIDs = matches.map(({ memberID }) => memberID);
    await memberPasswords.noteNetwork(c, emailaddress as string, memberIDs);
    // The cookie has no room for more sessions.
    return matches
      .slice(0, maxSessionsPerCookie)
      .map(({ kind, account, token, tokenID, password: hash }) => ({ kind, account, token, tokenID, password: hash }));
  };

  return {
    /** Returns the owners of the sessions to start: several if the password matches members of several accounts. */
    async find(fields: Fields, c: Context): Promise<readonly Owner[]> {
      const [tokenUUID, code] = [optionalText(fields, 'tokenUUID'), optionalText(fields, 'code')];
      if (tokenUUID !== undefined) return [await ofToken(tokenUUID, c)];
      if (code !== undefined) return [ofCode(code, c)];
      if (fields.passkey !== undefined) return [await passkeys.signIn(fields.passkey, c)];
      if (optionalText(fields, 'emailaddress') !== undefined) return ofPassword(fields, c);
      throw new Refusal('missing_field', { field: 'tokenUUID' });
    },
  };
};
export type SignIn = ReturnType<typeof createSignIn>;
