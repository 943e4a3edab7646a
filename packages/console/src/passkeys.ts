/** Passkeys, with the browser’s JSON functions (WebAuthn level 3) instead of a library. */
import { attempt } from './session.ts';

/**
 * Needs WebAuthn JSON functions (Chrome 129, Firefox 119, Safari 18.4) and a host name: passkeys don't work on IP
 * addresses.
 */
export const hasPasskeys =
  !/^[\d.]+$|^\[/.test(location.hostname) && 'parseRequestOptionsFromJSON' in (globalThis.PublicKeyCredential ?? {});

const words: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was used: the request was canceled or timed out.',
  InvalidStateError: 'This device already has one of your passkeys.',
};

/** Requests options from the server, then a passkey from the user. `problem` is the error text or ''. */
const runCeremony = async (
  path: string,
  body: object,
  choose: (options: never) => Promise<Credential | null>,
): Promise<{ readonly problem: string; readonly passkey?: unknown }> => {
  const { problem, data } = await attempt(`passkeys/${path}`, body);
  if (problem) return { problem };
  try {
    return { problem: '', passkey: await choose(data.options) };
  } catch (error) {
    const { name, message } = error as Error;
    return { problem: words[name] ?? message };
  }
};

/** Requests an existing passkey. */
export const requestPasskey = () =>
  runCeremony('to-sign-in', {}, (options) =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );

/** Creates a new passkey. */
export const createPasskey = (path: 'to-join' | 'to-add', body: object) =>
  runCeremony(path, body, (options) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
