/** The passkeys of the member who is signed in. */
import { makePasskey } from '../../../passkeys.ts';
import { attempt, send } from '../../../session.ts';

export interface Passkey {
  readonly passkeyID: string;
  readonly passkeyName: string;
  readonly createdTime: string;
  readonly lastUsedTime?: string;
}

/** null: a token signed in, which has none. */
export const listPasskeys = async (): Promise<readonly Passkey[] | null> => {
  const { isOK, answer } = await send('passkeys', 'GET');
  if (!isOK) throw new Error(answer.error?.message);
  return answer.passkeys;
};

/** Makes a passkey and adds it. Returns why not; '' if it worked. */
export const addPasskey = async (passkeyName: string): Promise<string> => {
  const { problem, passkey } = await makePasskey('to-add', {});
  return problem || (await attempt('passkeys/add', { passkey, passkeyName })).problem;
};

/** Rejects when the passkey is still there. */
export const removePasskey = async (passkeyID: string): Promise<void> => {
  const { problem } = await attempt('passkeys/remove', { passkeyID });
  if (problem) throw new Error(problem);
};
