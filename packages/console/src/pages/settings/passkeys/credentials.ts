/** The current member's passkeys and password. */
import { createPasskey } from '../../../passkeys.ts';
import { attempt, send } from '../../../session.ts';

export interface Passkey {
  readonly passkeyID: string;
  readonly passkeyName: string;
  readonly createdTime: string;
  readonly lastUsedTime?: string;
}

export interface Credentials {
  readonly passkeys: readonly Passkey[];
  readonly hasPassword: boolean;
  readonly memberEmailaddress: string;
}

/** Returns null if the session belongs to a token, which has no credentials. */
export const readCredentials = async (): Promise<Credentials | null> => {
  const { isOK, data } = await send('passkeys', 'GET');
  if (!isOK) throw new Error(data.error?.message);
  return data.passkeys && data;
};

/** Creates a passkey and adds it. Returns the error message; '' if it worked. */
export const addPasskey = async (passkeyName: string): Promise<string> => {
  const { problem, passkey } = await createPasskey('to-add', {});
  return problem || (await attempt('passkeys/add', { passkey, passkeyName })).problem;
};

/** Takes the fields `password` and, if one is set, `currentPassword`. Returns the error message; '' if it worked. */
export const changePassword = async (fields: FormData): Promise<string> =>
  (await attempt('password', Object.fromEntries(fields))).problem;

/** Rejects if the passkey could not be removed. */
export const removePasskey = async (passkeyID: string): Promise<void> => {
  const { problem } = await attempt('passkeys/remove', { passkeyID });
  if (problem) throw new Error(problem);
};
