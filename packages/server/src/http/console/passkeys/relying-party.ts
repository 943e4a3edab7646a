import { isIP } from 'node:net';
import { Refusal } from '../../../shared/refusal.ts';

/** The origin that a passkey is for. Authenticators identify it by its host. */
export interface RelyingParty {
  readonly origin: string;
  /** The RP ID (WebAuthn, section 4): a domain. */
  readonly id: string;
}

/**
 * Returns the relying party of the page that sent a request; the caller must have checked its Origin. Throws a Refusal
 * if the host is an IP address, which can't be an RP ID.
 */
export const relyingPartyOf = (headers: Headers): RelyingParty => {
  const { origin, hostname } = new URL(headers.get('origin') ?? '');
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0) return { origin, id: hostname };
  const message = 'passkeys need a host name, not an IP address: open the console at localhost or at CONSOLE_ORIGIN';
  throw new Refusal('origin_not_allowed', { message });
};
