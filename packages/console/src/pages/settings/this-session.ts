import { session } from '../../session.ts';
import type { Token } from './token-list.ts';

/** Whether a token is the current session. */
export const isThisSession = ({ tokenID }: Token): boolean => tokenID === session.value?.sessionID;
