/** Creates webhook secrets and signs messages with them (Standard Webhooks 1.0.0). */
import { createHash, createHmac } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import type { Webhook } from '../../store/store.ts';

type SecretFields = Pick<Webhook, 'webhookID' | 'secretTime'>;

/**
 * Derives a 32-byte secret from the database's key, so the secret itself is not stored. A copy of the database has the
 * same secrets.
 */
const deriveSecret = (databaseKey: Uint8Array, { webhookID, secretTime }: SecretFields): Buffer =>
  createHmac('sha256', databaseKey).update(`webhook secret ${webhookID} ${secretTime}`).digest();

/** Returns the secret in the form that receivers configure. */
export const formatSecret = (databaseKey: Uint8Array, webhook: SecretFields): string =>
  `whsec_${deriveSecret(databaseKey, webhook).toString('base64')}`;

/** Returns the time until which the previous secret is valid; undefined if it is no longer valid or there is none. */
export const previousSecretUntil = (
  { secretTime, previousSecretTime }: Pick<Webhook, 'secretTime' | 'previousSecretTime'>,
  time: number,
): number | undefined => {
  const until = secretTime + limits.webhookRotationHours * 3_600_000;
  return previousSecretTime === null || until <= time ? undefined : until;
};

/**
 * Returns the ID of a message, which is the same in all attempts, even after a crash. `identity` distinguishes messages
 * with the same sequence number, which can be assigned again after a backup is restored.
 */
export const toMessageID = (webhookID: string, sequence: number, identity: string): string =>
  `msg_${createHash('sha256').update(`${webhookID} ${sequence} ${identity}`).digest('base64url').slice(0, 24)}`;

/** Returns the headers for a message that is sent at `time`. */
export const signMessage = (
  databaseKey: Uint8Array,
  webhook: SecretFields & Pick<Webhook, 'previousSecretTime'>,
  { messageID, body, time }: { messageID: string; body: string; time: number },
): Record<string, string> => {
  const { webhookID, secretTime, previousSecretTime } = webhook;
  const isRotating = previousSecretUntil(webhook, time) !== undefined;
  const secretTimes = isRotating ? [secretTime, previousSecretTime as number] : [secretTime];
  const timestamp = Math.floor(time / 1_000);
  const signatures = secretTimes.map((each) => {
    const hmac = createHmac('sha256', deriveSecret(databaseKey, { webhookID, secretTime: each }));
    return `v1,${hmac.update(`${messageID}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': messageID,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
};
