/** The passkeys and the password of the member who is signed in. */
import { makePasskey } from '../../../passkeys.ts';
import { attempt, send } from '../../../session.ts';

export interface Passkey {
  readonly passkeyID: string;
  readonly passkeyName: string;
  readonly createdTime: string;
  readonly lastUsedTime?: string;
}

export interface Own {
  readonly passkeys: readonly Passkey[];
  readonly hasPassword: boolean;
  readonly memberEmailaddress: string;
}

/** null: a token signed in, which has none. */
export const readOwn = async (): Promise<Own | null> => {
  const { isOK, answer } = await send('passkeys', 'GET');
  if (!isOK) throw new Error(answer.error?.message);
  return answer.passkeys && answer;
};

/** Makes a passkey and adds it. Returns why not; '' if it worked. */
export const addPasskey = async (passkeyName: string): Promise<string> => {
  const { problem, passkey } = await makePasskey('to-add', {});
  return problem || (await attempt('passkeys/add', { passkey, passkeyName })).problem;
};

/** Takes the fields `password` and, if there is one, `currentPassword`. Returns why not; '' if it worked. */
export const changePassword = async (fields: FormData): Promise<string> =>
  (await attempt('password', Object.fromEntries(fields))).problem;

/** Rejects when the passkey is still there. */
export const removePasskey = async (passkeyID: string): Promise<void> => {
  const { problem } = await attempt('passkeys/remove', { passkeyID });
  if (problem) throw new Error(problem);
};
