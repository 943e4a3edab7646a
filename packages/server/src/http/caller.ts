import type { AnswerOf, InputOf, OperationName } from '@firsthand/contract/operations';
import { Refusal } from '../refusal.ts';
import type { Access, Asker } from '../store/store.ts';

/** Who asks, with a token that was found good, and when. */
export interface Caller {
  readonly access: Access;
  readonly tokenUUID: string;
  /** When the request was received. */
  readonly time: number;
  /** Tells senders apart for a day, by a few bits of a keyed hash; not known of a command beside the server. */
  readonly senderOf?: () => number | Promise<number>;
  /** Whether the request comes from a robot, by its user agent; not known of a command beside the server. */
  readonly isRobot?: () => boolean;
  /** Of a refused request that is sent again: when it was received first. What happened when, is told from that. */
  readonly refusedTime?: number;
}

/** An operation: from checked input to its answer, or to a Refusal thrown. */
export type Answering<Name extends OperationName> = (input: InputOf<Name>, caller: Caller) => Promise<AnswerOf<Name>>;

export type AnsweringAll<Names extends OperationName> = { readonly [Name in Names]: Answering<Name> };

/** When what the caller tells of was told first. */
export const toldTimeOf = ({ time, refusedTime }: Caller): number => refusedTime ?? time;

/** The account that the caller's token belongs to. An operator's belongs to none. */
export const accountOf = ({ access }: Caller): number => {
  if (access.account === null) throw new Refusal('token_kind');
  return access.account;
};

/** The token number of whoever works on the database itself, which is the command line. */
export const commandLine = 0;

/** The number of the caller's token; null for the command line. */
export const actorOf = ({ access }: Caller): number | null => (access.token === commandLine ? null : access.token);

/** The caller, as the store asks for it. */
export const askerOf = (caller: Caller): Asker => ({
  account: accountOf(caller),
  token: caller.access.token,
  browser: caller.access.kind === 'browser',
});
