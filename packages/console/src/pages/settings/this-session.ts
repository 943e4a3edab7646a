import { session } from '../../session.ts';
import type { Token } from './token-list.ts';

/** Whether a token is the session that is signed in. The service does not return its tokenID, but the time at which it expires. */
export const isThisSession = ({ session: isSession, expiresTime }: Token): boolean =>
  isSession === true && expiresTime !== undefined && expiresTime === session.value?.expiresTime;
