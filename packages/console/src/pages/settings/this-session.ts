import { session } from '../../session.ts';
import type { Token } from './token-list.ts';

/** Whether a token is the session that is signed in. */
export const isThisSession = ({ tokenID }: Token): boolean => tokenID === session.value?.sessionID;
