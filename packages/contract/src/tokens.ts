/** What a token may be: `browser` stands in a page, `server` is an account's secret, `operator` runs the service. */
export const tokenKinds = ['browser', 'server', 'operator'] as const;
export type TokenKind = (typeof tokenKinds)[number];
