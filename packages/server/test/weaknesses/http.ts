/** Weaknesses of the HTTP server and its limits, for the tests in `faults/` and `security/` (decision 18). */
import type { Change } from '../tools/weakened-server.ts';

/** Lets any number of events wait for a commit. */
export const withoutQueueLimit: readonly Change[] = [
  { file: 'http/request/admission.ts', from: 'maxHeldBytes = 8 * 1024 * 1024', to: 'maxHeldBytes = Infinity' },
  {
    file: 'store/backpressure.ts',
    from: 'maxWaitingBytes = 8 * 1024 * 1024',
    to: 'maxWaitingBytes = Infinity',
  },
];

/** Lets any number of bytes arrive concurrently. */
export const withoutArrivalLimit: readonly Change[] = [
  { file: 'http/request/admission.ts', from: 'createBodyMemoryLimit(maxBytes)', to: 'createBodyMemoryLimit(Infinity)' },
];

/** Decompresses any number of bodies concurrently, and does not count their decompressed bytes. */
export const withoutDecompressionLimit: readonly Change[] = [
  { file: 'http/request/body.ts', from: 'hold(most - packed.length);', to: '' },
  { file: 'http/request/body.ts', from: 'release(most - bytes.length);', to: '' },
  { file: 'http/request/body.ts', from: 'maxUnpacking = 2', to: 'maxUnpacking = Infinity' },
];

/** Accepts connections until no file descriptor is left. */
export const withoutConnectionLimit: readonly Change[] = [
  { file: 'serving/application.ts', from: 'server.maxConnections = maxConnections;', to: '' },
  { file: 'serving/application.ts', from: 'shares.guard(server);', to: '' },
];

/** Accepts connections until no file descriptor is left, then treats the failure as damage to the database. */
export const exitingWithoutDescriptors: readonly Change[] = [
  ...withoutConnectionLimit,
  { file: 'store/sqlite/database/connection.ts', from: '|EMFILE|ENFILE|ENOMEM', to: '' },
];

/** Closes connections at shutdown without waiting for their requests. */
export const stoppingWithoutWaiting: readonly Change[] = [
  {
    file: 'serving/serve.ts',
    from: 'await Promise.all([drained, stopRetentionJob(), stopWebhooks(), stopMails(), stop()])',
    to: '(server.closeAllConnections(), server.close(), [0])',
  },
];

/** Takes the client's IP address from the left end of X-Forwarded-For, which the client can forge. */
export const readingForwardedForFromTheLeft: readonly Change[] = [
  { file: 'http/access/client-address.ts', from: 'hops.pop()', to: 'hops.shift()' },
];

/** Treats all IP addresses as one sender in the list of refused requests. */
export const mixingSenders: readonly Change[] = [
  {
    file: 'http/access/client-address.ts',
    from: "Buffer.from(networkHash, 'base64').readUIntBE(0, 3)",
    to: 'networkHash.length',
  },
];

/** Does not count the bytes of a browser token's calls. */
export const withoutCountingBytes: readonly Change[] = [
  { file: 'http/access/call-cost.ts', from: 'bytes: storedBytes(name, given, event),', to: 'bytes: 0,' },
  { file: 'http/request/parsing-budget.ts', from: "access.kind === 'browser'", to: 'false' },
];

/** Has no budget for requests without a valid token, and no limit on pipelined requests. */
export const withoutBudget: readonly Change[] = [
  { file: 'http/request/input.ts', from: 'Freely) await budget', to: 'Freely && false) await budget', times: 3 },
  { file: 'http/access/connection-limits.ts', from: 'const maxWaiting = 4', to: 'const maxWaiting = Infinity' },
  { file: 'http/access/refusal-budget.ts', from: 'unproven.take(addressOf(c))', to: '' },
];

/** Logs raw URLs, quotes them in errors, and stores the secrets of refused requests. */
export const revealingSecrets: readonly Change[] = [
  { file: 'http/routes.ts', from: 'loggedPath ?? c.req.path', to: 'c.req.raw.url' },
  { file: 'logging/log.ts', from: 'hooks: { streamWrite: scrub },', to: '' },
  { file: 'http/request/forms.ts', from: 'scrub(name.slice(0, limits.nameLength))', to: 'name' },
  {
    file: 'http/refused/refused-requests.ts',
    from: '(?:agent|viewer|editor|server|operator|session)_[\\w-]{22,}',
    to: '(?!)',
  },
];

/** Responds to createContact without fixed time steps, and takes `milliseconds` longer for a known address. */
export const slowerForKnownAddresses = (milliseconds: number): readonly Change[] => [
  { file: 'http/operations/contacts.ts', from: 'respondInSteps(response)', to: 'response' },
  {
    file: 'store/operations/create-contact.ts',
    from: 'const found = yield* call(() => contacts.ensure(request));',
    to: `const { address = '' } = request;
      const existed = (yield* call(() => contacts.findByKey(account, 'contactEmailaddress', address))) !== undefined;
      const found = yield* call(() => contacts.ensure(request));
      for (const until = performance.now() + ${milliseconds}; existed && performance.now() < until; );`,
  },
];

const responseHeaders =
  "'Cache-Control': 'no-store',\n    'X-Content-Type-Options': 'nosniff',\n    'Referrer-Policy': 'no-referrer',";

/** Sends one wrong header in each response, but not always the same one. */
export const invalidHeaderCases: readonly Change[] = [
  { file: 'http/responses/responses.ts', from: responseHeaders, to: `${responseHeaders} ...wrongIn(nth++),` },
  {
    file: 'http/responses/responses.ts',
    from: 'export const headersOf',
    to: `let nth = 0;
      const names = ['Cache-Control', 'X-Content-Type-Options', 'Referrer-Policy', 'Server'];
      const wrongIn = (nth: number) => ({ [names[nth % names.length] as string]: 'Firsthand' });
      export const headersOf`,
  },
];

/** Accepts any browser name in the User-Agent. */
export const acceptingAnyBrowserName: readonly Change[] = [
  { file: 'http/request/agents.ts', from: 'known.has(value)', to: 'known.size > 0' },
];

/** Lets one account occupy every report slot. */
export const withoutReservedSlot: readonly Change[] = [
  { file: 'shared/fair-queue.ts', from: 'free > (isShared || running.has(account) ? 1 : 0)', to: 'free > 0' },
];

/** Lets a page's network add any number of event names, and refuses events whose names can no longer be listed. */
export const refusingUnlistedNames: readonly Change[] = [
  { file: 'http/access/new-names.ts', from: '        limit.take(network);\n', to: '' },
  {
    file: 'store/rules/accounts/catalogue-rules.ts',
    from: 'if (!mayAddName || !hasRoomForName(ids, browser)) return [];',
    to: "if (!mayAddName || !hasRoomForName(ids, browser)) throw new Refusal('unknown_id', { field: 'eventName' });",
  },
];

/** Reserves no slots for hashing passwords, and has no limits for a /48. */
export const withoutMemberSlots: readonly Change[] = [
  {
    file: 'http/console/passwords.ts',
    from: 'open: 10, reserved: 10, ofAddress: 3, ofPrefix: 6',
    to: 'open: 20, reserved: 0, ofAddress: 3, ofPrefix: 20',
  },
  { file: 'http/console/member-passwords.ts', from: '[...always, [allOfPrefix, prefixOf(c)]]', to: 'always' },
];

/**
 * Compares a password with those of five members with the same e-mail address, and counts no failures if one of them is
 * known at the client's IP address.
 */
export const comparingManyPasswords: readonly Change[] = [
  {
    file: 'http/console/member-passwords.ts',
    from: 'const compared = onlyKnown ? known : members;',
    to: 'const compared = members.slice(0, 5);',
  },
  {
    file: 'http/console/member-passwords.ts',
    from: 'known.length > 0 && known.length === compared.length',
    to: 'known.length > 0',
  },
];

/** Not a weakness: hashes passwords a thousand times as fast, for tests that are not about hashing. */
export const cheapHashing: readonly Change[] = [
  { file: 'http/console/passwords.ts', from: '{ ln: 15, r: 8, p: 3 }', to: '{ ln: 4, r: 8, p: 1 }' },
];
