/** Finds the visitor's country from a CDN's header or from the visitor's address. */
import type { Context } from 'hono';
import { connectedAddress, createNetworkMatcher, createRequestAddress } from '../access/client-address.ts';

/** Finds the country of an address. */
export type CountryOf = (address: string) => string | undefined;

export interface CountrySources {
  readonly countryOf?: CountryOf | undefined;
  /** The header in which a CDN sends the country. Any client can send it, so it is read only from trusted proxies. */
  readonly countryHeader?: string | undefined;
}

/** ISO 3166-1 alpha-2, as CDNs send it. Cloudflare sends XX for an unknown country and T1 for Tor. */
const countryCode = /^(?!XX)[A-Z]{2}$/;

/** Returns a function that finds the country of a request's sender; undefined if no source is configured. */
export const createCountryFinder = ({
  countryOf,
  countryHeader,
  trustProxy,
}: CountrySources & { readonly trustProxy: readonly string[] }): ((c: Context) => string | undefined) | undefined => {
  const isTrusted = createNetworkMatcher(trustProxy);
  const requestAddress = createRequestAddress(trustProxy);
  const ofAddress = countryOf && ((c: Context) => countryOf(requestAddress(c)));
  if (countryHeader === undefined) return ofAddress;
  return (c) => {
    const sent = isTrusted(connectedAddress(c)) ? c.req.raw.headers.get(countryHeader)?.toUpperCase() : undefined;
    return sent !== undefined && countryCode.test(sent) ? sent : ofAddress?.(c);
  };
};
