/** The kinds of token: `browser` is public, `viewer` (only reads) and `server` are secret, `operator` runs the service. */
export const tokenKinds = ['browser', 'viewer', 'server', 'operator'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** The kinds of token that belong to an account. */
export const accountTokenKinds = ['browser', 'viewer', 'server'] as const satisfies readonly TokenKind[];
