/** Creates the parts that handle the console's own requests: sign-in, members, invitations and passkeys. */
import type { Context } from 'hono';
import type { Access, Store } from '../../store/store.ts';
import type { AddressOf } from '../access/client-address.ts';
import { createRateLimit, type Rate } from '../access/rate-limits.ts';
import type { Admit } from '../request/admission.ts';
import type { Agent } from '../request/agents.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import { createInvitations } from './invitations.ts';
import { createMemberPasswords } from './member-passwords.ts';
import { challengeRate, createPasskeys } from './passkeys/passkeys.ts';
import { additionRate } from './passkeys/routes.ts';
import type { Passwords } from './passwords.ts';
import { createConsoleRoutes } from './routes.ts';
import type { SampleShop } from './sample-shop.ts';
import { createSessions, signInRate } from './sessions.ts';
import { createSignIn } from './sign-in.ts';
import type { SignInCodes } from './sign-in-codes.ts';

interface Dependencies {
  readonly store: Store;
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  readonly addressOf: AddressOf;
  /** Returns the hash of the client's /48 network. */
  readonly prefixOf: AddressOf;
  /** Returns the client's address, unhashed. */
  readonly requestAddress: (c: Context) => string;
  readonly agentOf: (c: Context) => Agent;
  readonly passwords: Passwords;
  readonly signInCodes: SignInCodes;
  /** How often an address may guess codes. */
  readonly unknownTokenRate: Rate;
  /** The origin whose pages may sign in, in addition to pages on this machine. */
  readonly consoleOrigin: string | undefined;
  readonly sampleShop: SampleShop | undefined;
  /** Whether the server sends mails. */
  readonly mail: boolean;
  readonly now: () => number;
}

export const createConsole = ({ signInCodes, unknownTokenRate, passwords, ...shared }: Dependencies) => {
  const passkeys = createPasskeys({ ...shared, challengeLimit: createRateLimit(challengeRate) });
  const memberPasswords = createMemberPasswords({ ...shared, passwords });
  const parts = { ...shared, passkeys, memberPasswords };
  return createConsoleRoutes({
    ...parts,
    passkeyAdditions: createRateLimit(additionRate),
    signIn: createSignIn({ ...parts, codes: signInCodes }),
    invitations: createInvitations({ ...parts, unknownCodes: createRateLimit(unknownTokenRate) }),
    sessions: createSessions({ ...shared, signIns: createRateLimit(signInRate) }),
  });
};
