/** What every answer of the demo says: it is not to be kept, guessed at, or told of to other sites. */
export const answerHeaders = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;
