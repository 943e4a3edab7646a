/**
 * The commands for virtual authenticators of Firefox's Marionette, which WebDriver BiDi lacks. They need no session, of which the browser
 * has one already, BiDi's. A message is its length in bytes, a colon, and JSON: [0, number, command, arguments] or [1, number, error, result].
 */
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Authenticator } from './engine.ts';
import { waitFor } from './processes.ts';

/** A browser with these preferences and the argument `--marionette` asks virtual authenticators, and no others. */
export const marionettePreferences = {
  'marionette.port': 0,
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
};

type Ask = (command: string, fields: object) => Promise<unknown>;

const openMarionette = async (profileFolder: string): Promise<Ask> => {
  const file = join(profileFolder, 'MarionetteActivePort');
  const port = await waitFor(
    'Marionette',
    () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0) || undefined,
  );
  const socket = connect(port, '127.0.0.1');
  socket.unref();
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let received = Buffer.alloc(0);
  /** The next message, once all of it has arrived. */
  const take = (): unknown => {
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
    for (let message = take(); message !== undefined; message = take()) {
      // The first one says what Marionette is.
      if (!Array.isArray(message)) continue;
      const [, number, error, result] = message;
      if (error) waiting.get(number)?.reject(new Error(`${error.error}: ${error.message}`));
      else waiting.get(number)?.resolve(result);
      waiting.delete(number);
    }
  });
  let last = 0;
  return (command, fields) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      const text = JSON.stringify([0, last, command, fields]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
};

/** Adds authenticators to the browser with this profile. */
export const createAddAuthenticator = (profileFolder: string) => {
  let opened: Promise<Ask> | undefined;
  return async (transport: 'internal' | 'usb'): Promise<Authenticator> => {
    opened ??= openMarionette(profileFolder);
    const ask = await opened;
    const { value: authenticatorId } = (await ask('WebAuthn:AddVirtualAuthenticator', {
      ...{ protocol: 'ctap2_1', transport, hasResidentKey: true },
      ...{ hasUserVerification: true, isUserConsenting: true, isUserVerified: true },
    })) as { value: string };
    return {
      count: async () => {
        const { value } = (await ask('WebAuthn:GetCredentials', { authenticatorId })) as { value: unknown[] };
        return value.length;
      },
      verifies: async (isUserVerified) => {
        await ask('WebAuthn:SetUserVerified', { authenticatorId, isUserVerified });
      },
      remove: async () => {
        await ask('WebAuthn:RemoveVirtualAuthenticator', { authenticatorId });
      },
    };
  };
};
