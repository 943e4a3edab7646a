/**
 * Firefox's Marionette commands for virtual authenticators, which WebDriver BiDi lacks. They need no separate session,
 * because the browser already has the BiDi session.
 *
 * A message is its length in bytes, a colon, and JSON: [0, number, command, arguments] or [1, number, error, result].
 */
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Authenticator } from './engine.ts';
import { waitFor } from './processes.ts';

/** With these preferences and the argument `--marionette`, a browser uses only virtual authenticators. */
export const marionettePreferences = {
  'marionette.port': 0,
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
};

type SendCommand = (command: string, fields: object) => Promise<unknown>;

const openMarionette = async (profileFolder: string): Promise<SendCommand> => {
  const file = join(profileFolder, 'MarionetteActivePort');
  const port = await waitFor(
    'Marionette',
    () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0) || undefined,
  );
  const socket = connect(port, '127.0.0.1');
  socket.unref();
  const pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let received = Buffer.alloc(0);
  /** Returns the next message, or undefined until all of it has arrived. */
  const readMessage = (): unknown => {
    const colon = received.indexOf(':');
    if (colon < 0) return undefined;
    const end = colon + 1 + Number(received.toString('latin1', 0, colon));
    if (received.length < end) return undefined;
    const message = JSON.parse(received.toString('utf8', colon + 1, end));
    received = received.subarray(end);
    return message;
  };
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    for (let message = readMessage(); message !== undefined; message = readMessage()) {
      // Skips the first message, which describes Marionette.
      if (!Array.isArray(message)) continue;
      const [, number, error, result] = message;
      if (error) pending.get(number)?.reject(new Error(`${error.error}: ${error.message}`));
      else pending.get(number)?.resolve(result);
      pending.delete(number);
    }
  });
  let lastNumber = 0;
  return (command, fields) =>
    new Promise((resolve, reject) => {
      lastNumber += 1;
      pending.set(lastNumber, { resolve, reject });
      const text = JSON.stringify([0, lastNumber, command, fields]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
};

/** Returns a function that adds virtual authenticators to the browser with this profile. */
export const createAddAuthenticator = (profileFolder: string) => {
  let connection: Promise<SendCommand> | undefined;
  return async (transport: 'internal' | 'usb'): Promise<Authenticator> => {
    connection ??= openMarionette(profileFolder);
    const sendCommand = await connection;
    const { value: authenticatorId } = (await sendCommand('WebAuthn:AddVirtualAuthenticator', {
      ...{ protocol: 'ctap2_1', transport, hasResidentKey: true },
      ...{ hasUserVerification: true, isUserConsenting: true, isUserVerified: true },
    })) as { value: string };
    return {
      count: async () => {
        const { value } = (await sendCommand('WebAuthn:GetCredentials', { authenticatorId })) as { value: unknown[] };
        return value.length;
      },
      verifies: async (isUserVerified) => {
        await sendCommand('WebAuthn:SetUserVerified', { authenticatorId, isUserVerified });
      },
      remove: async () => {
        await sendCommand('WebAuthn:RemoveVirtualAuthenticator', { authenticatorId });
      },
    };
  };
};
