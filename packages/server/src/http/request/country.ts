/** The visitor's country: from the header of a CDN, or from the visitor's address. */
import type { Context } from 'hono';
import { connectedAddress, createIsIn, createRequestAddress } from '../access/client-address.ts';

export interface CountrySources {
  /** Finds the country of an address. */
  readonly countryOf?: ((address: string) => string | undefined) | undefined;
  /** The header in which a CDN sends the country. Every client can send it, so only trusted proxies are believed. */
  readonly countryHeader?: string | undefined;
}

/** ISO 3166-1 alpha-2, as CDNs write it. Cloudflare sends XX for an unknown country, and T1 for Tor. */
const countryCode = /^(?!XX)[A-Z]{2}$/;

/** Returns a function that finds the country of a request's sender; undefined if there is no source. */
export const createCountryOf = ({
  countryOf,
  countryHeader,
  trustProxy,
}: CountrySources & { readonly trustProxy: readonly string[] }): ((c: Context) => string | undefined) | undefined => {
  const isTrusted = createIsIn(trustProxy);
  const requestAddress = createRequestAddress(trustProxy);
  const ofAddress = countryOf && ((c: Context) => countryOf(requestAddress(c)));
  if (countryHeader === undefined) return ofAddress;
  return (c) => {
    const sent = isTrusted(connectedAddress(c)) ? c.req.raw.headers.get(countryHeader)?.toUpperCase() : undefined;
    return sent !== undefined && countryCode.test(sent) ? sent : ofAddress?.(c);
  };
};
