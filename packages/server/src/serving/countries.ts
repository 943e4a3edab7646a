/** Looks up an address's country in GEO_FILE, an MMDB file from any provider. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type CountryResponse, Reader } from 'mmdb-lib';
import { BadConfiguration } from '../config/config.ts';
import type { CountryOf } from '../http/request/country.ts';

/**
 * An address's record: it has `country` in files from MaxMind and DB-IP, and `country_code` in files from
 * ip-location-db.
 */
type CountryRecord = Partial<Pick<CountryResponse, 'country'>> & { readonly country_code?: unknown };

/** ISO 3166-1 alpha-2. Limits the label to 676 values. */
const countryCode = /^[A-Z]{2}$/;

const openReader = (path: string): Reader<CountryRecord & CountryResponse> => {
  try {
    return new Reader(readFileSync(path));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BadConfiguration(`GEO_FILE (or --geo-file) must be an MMDB file; ${JSON.stringify(path)}: ${reason}`, {
      cause,
    });
  }
};

/** Addresses spread across IPv4: every country database contains some of them. */
const samples = Array.from({ length: 223 }, (_, nth) => `${nth + 1}.1.1.1`);

/**
 * Reads the file into memory. Returns a function from an address to its two-letter country code, or undefined if
 * unknown. Throws BadConfiguration if the file can't be read or has no countries.
 */
export const openCountries = (path: string): CountryOf => {
  const reader = openReader(path);
  // In an IPv4 database, the bits of an IPv6 address would match an unrelated address.
  const isIPv4Only = reader.metadata.ipVersion === 4;
  const countryOf: CountryOf = (address) => {
    const version = isIP(address);
    if (version === 0 || (version === 6 && isIPv4Only)) return undefined;
    let record: CountryRecord | null;
    try {
      record = reader.get(address);
    } catch {
      // With a damaged file, the event is still stored, but without the label.
      return undefined;
    }
    const code = record?.country_code ?? record?.country?.iso_code;
    return typeof code === 'string' && countryCode.test(code) ? code : undefined;
  };
  if (samples.every((address) => countryOf(address) === undefined)) {
    throw new BadConfiguration(
      `GEO_FILE (or --geo-file) must be an MMDB file with countries; ${JSON.stringify(path)} has none for IPv4 addresses`,
    );
  }
  return countryOf;
};
