/** The expiry choices for a new token. Pure functions. */

export const expiries = {
  never: 'Never',
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In a year',
  day: 'On a date…',
} as const;
export type Expiry = keyof typeof expiries;

const dayMs = 86_400_000;

/** An ISO 8601 time; undefined: never. A day such as `2026-12-01` means the start of that day in UTC. */
export const expiresTimeOf = (expiry: Expiry, day: string, now: number): string | undefined => {
  if (expiry === 'never') return undefined;
  return expiry === 'day' ? `${day}T00:00:00Z` : new Date(now + Number(expiry) * dayMs).toISOString();
};
