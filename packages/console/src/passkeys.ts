/** Passkeys, by the browser’s own functions (WebAuthn level 3), which spare the page a library. */
import { attempt } from './session.ts';

/** Whether the browser reads options as JSON (Chrome 129, Firefox 119, Safari 18.4), and the host has a name: passkeys need one. */
export const hasPasskeys =
  !/^[\d.]+$|^\[/.test(location.hostname) && 'parseRequestOptionsFromJSON' in (globalThis.PublicKeyCredential ?? {});

const words: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was used: it was cancelled, or took too long.',
  InvalidStateError: 'This device already has one of your passkeys.',
};

/** Asks the server for options, and the person for a passkey. `problem` is why there is none, or ''. */
const use = async (
  path: string,
  body: object,
  choose: (options: never) => Promise<Credential | null>,
): Promise<{ readonly problem: string; readonly passkey?: unknown }> => {
  const { problem, answer } = await attempt(`passkeys/${path}`, body);
  if (problem) return { problem };
  try {
    return { problem: '', passkey: await choose(answer.options) };
  } catch (error) {
    const { name, message } = error as Error;
    return { problem: words[name] ?? message };
  }
};

/** A passkey that the person chooses. */
export const usePasskey = () =>
  use('to-sign-in', {}, (options) =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );

/** A new passkey. */
export const makePasskey = (path: 'to-join' | 'to-add', body: object) =>
  use(path, body, (options) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
