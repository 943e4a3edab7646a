import { isIP } from 'node:net';
import { Refusal } from '../../../shared/refusal.ts';

/** The pages that a passkey is for: those of one origin, which the authenticator knows by their host. */
export interface RelyingParty {
  readonly origin: string;
  /** The RP ID (WebAuthn, section 4): a domain. */
  readonly id: string;
}

/**
 * Returns the relying party of the page that sent a request. The caller has checked that the console may be used from there. Throws a
 * Refusal where the host is an IP address, which no RP ID may be.
 */
export const relyingPartyOf = (headers: Headers): RelyingParty => {
  const { origin, hostname } = new URL(headers.get('origin') ?? '');
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0) return { origin, id: hostname };
  const message = 'passkeys need a host with a name: open the console at localhost, or at CONSOLE_ORIGIN';
  throw new Refusal('origin_not_allowed', { message });
};
