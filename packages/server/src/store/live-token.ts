/** Whether a token works at a time: it is neither revoked nor expired. */
export const isLive = (
  { revokedTime, expiresTime }: { readonly revokedTime: number | null; readonly expiresTime: number | null },
  time: number,
): boolean => revokedTime === null && (expiresTime === null || time < expiresTime);
