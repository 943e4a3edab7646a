/** What a token may be: `browser` stands in a page, `viewer` and `server` are an account's secrets, `operator` runs the service. */
export const tokenKinds = ['browser', 'viewer', 'server', 'operator'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** What an account's own tokens may be. */
export const accountTokenKinds = ['browser', 'viewer', 'server'] as const satisfies readonly TokenKind[];
