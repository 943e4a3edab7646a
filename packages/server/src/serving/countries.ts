/** Finds the country of an address in the database that GEO_FILE names: an MMDB file, of any provider. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type CountryResponse, Reader } from 'mmdb-lib';
import { BadConfiguration } from '../config/config.ts';

/** The record of an address: as MaxMind and DB-IP write it, or as ip-location-db does. */
type CountryRecord = Partial<Pick<CountryResponse, 'country'>> & { readonly country_code?: unknown };

/** ISO 3166-1 alpha-2: at most 676 values, whatever the file holds. */
const countryCode = /^[A-Z]{2}$/;

type CountryOf = (address: string) => string | undefined;

const openReader = (path: string): Reader<CountryRecord & CountryResponse> => {
  try {
    return new Reader(readFileSync(path));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BadConfiguration(`GEO_FILE (or --geo-file) must be an MMDB file; ${JSON.stringify(path)}: ${why}`, {
      cause,
    });
  }
};

/** Addresses all over IPv4: every database of countries knows some of them. */
const samples = Array.from({ length: 223 }, (_, nth) => `${nth + 1}.1.1.1`);

/**
 * Reads the file into memory, and returns a function that finds the country of an address: two letters, undefined if it is unknown.
 * Throws BadConfiguration if the file can't be read, or has no countries.
 */
export const openCountries = (path: string): CountryOf => {
  const reader = openReader(path);
  // In a database of IPv4, the bits of an IPv6 address would lead to the country of another address.
  const isOfIPv4 = reader.metadata.ipVersion === 4;
  const countryOf: CountryOf = (address) => {
    const version = isIP(address);
    if (version === 0 || (version === 6 && isOfIPv4)) return undefined;
    let record: CountryRecord | null;
    try {
      record = reader.get(address);
    } catch {
      // Damage in the file costs the label, and not the event.
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
