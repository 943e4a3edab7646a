/**
 * Weaknesses of the store and of the rules that determine owners, for the tests in `faults/` and `security/` (decision
 * 18).
 */
import type { Change } from '../tools/weakened-server.ts';

/** Commits without a sync, as SQLite does in WAL mode with synchronous=NORMAL. */
export const withoutSync: readonly Change[] = [
  { file: 'store/sqlite/database/connection.ts', from: 'synchronous = FULL', to: 'synchronous = NORMAL' },
  { file: 'store/sqlite/database/connection.ts', from: '!== 2)', to: '!== 1)' },
];

/** Commits to PostgreSQL without waiting for its sync. */
export const withoutSyncOnPostgres: readonly Change[] = [
  {
    file: 'store/postgres/database/connection.ts',
    from: "if (commit !== 'off') return;",
    to: "await client.query('SET synchronous_commit = off'); if (commit) return;",
  },
];

/** Acknowledges events 20 ms before it stores them. */
export const acknowledgingEarly: readonly Change[] = [
  {
    file: 'store/sqlite/threads/writer-thread.ts',
    from: 'const written = orDie(() => engine.write(calls));',
    to: `setTimeout(() => orDie(() => engine.write(calls)), 20);
      const written = calls.map((call: any) => ({ value: call.request.events?.map(() => ({ kept: true })) }));`,
  },
];

/** Like `acknowledgingEarly`, on PostgreSQL. */
export const acknowledgingEarlyOnPostgres: readonly Change[] = [
  {
    file: 'store/postgres/transactions/write-queue.ts',
    from: 'const outcomes = await store(queued.map(({ batch }) => batch));',
    to: `const batches = queued.map(({ batch }) => batch);
      setTimeout(() => store(batches).catch(() => {}), 20);
      const outcomes = batches.map(({ events }: any) => events.map(() => ({ kept: true })));`,
  },
];

/** Locks other users too, in any order. */
export const lockingInAnyOrder: readonly Change[] = [
  {
    file: 'store/postgres/contacts/row-locks.ts',
    from: 'AND "user" = ANY ($2::bigint[]) ORDER BY "user" FOR NO KEY UPDATE\'',
    to: 'AND ("user" = ANY ($2::bigint[]) OR random() < 0.5) ORDER BY random() FOR NO KEY UPDATE\'',
  },
];

/** Treats a commit without a response as successful. */
export const ignoringFailedCommitsOnPostgres: readonly Change[] = [
  {
    file: 'store/postgres/database/connection.ts',
    from: "const { command } = await client.query('COMMIT');",
    to: "const { command } = await client.query('COMMIT').catch(() => ({ command: 'COMMIT' }));",
  },
];

/** Reuses numbers that a coordinator might have lost. */
export const reusingLostNumbers: readonly Change[] = [
  {
    file: 'store/postgres/database/connection.ts',
    from: 'if (rows[0].exists) await client.query(sql);',
    to: 'if (!rows || !sql) throw new Error();',
  },
];

/** Treats a failed commit as successful. */
export const ignoringFailedCommits: readonly Change[] = [
  {
    file: 'store/sqlite/transactions/transaction.ts',
    from: '    commit.run();\n',
    to: '    try { commit.run(); } catch { if (db.inTransaction) rollback.run(); }\n',
  },
];

/** Migrates with one transaction per statement. */
export const migratingByStatement: readonly Change[] = [
  { file: 'store/sqlite/database/migrate.ts', from: 'db.transaction(() => {', to: '(() => {' },
  { file: 'store/sqlite/database/migrate.ts', from: '}).immediate();', to: '})();' },
];

/** Replaces a file that is not a database with a new database. */
export const replacingForeignFiles: readonly Change[] = [
  {
    file: 'store/sqlite/database/file.ts',
    from: '    refuseForeign(path);\n    return;\n',
    to: '    try { refuseForeign(path); return; } catch { rmSync(path); }\n',
  },
];

/** Reads blocks of events without comparing their checksums. */
export const withoutChecksums: readonly Change[] = [
  {
    file: 'store/sqlite/event-log/event-block-row.ts',
    from: 'row.checksum === checksumOf(row)',
    to: 'row.checksum !== undefined',
  },
];

/** Not a weakness: checkpoints the log after 1 MiB instead of 16, so that power cuts also hit checkpoints. */
export const frequentCheckpoints: readonly Change[] = [
  {
    file: 'store/sqlite/maintenance/write-ahead-log.ts',
    from: 'backlogBytes = 16 * mebibyte',
    to: 'backlogBytes = mebibyte',
  },
  {
    file: 'store/sqlite/maintenance/write-ahead-log.ts',
    from: 'maxBytes = 24 * mebibyte',
    to: 'maxBytes = 3 * mebibyte',
  },
];

/** Never checkpoints, so that the write-ahead log grows. */
export const neverCheckpointing: readonly Change[] = [
  {
    file: 'store/sqlite/maintenance/write-ahead-log.ts',
    from: 'backlogBytes = 16 * mebibyte',
    to: 'backlogBytes = Infinity',
  },
  {
    file: 'store/sqlite/maintenance/write-ahead-log.ts',
    from: 'maxBytes = 24 * mebibyte',
    to: 'maxBytes = Infinity',
  },
];

/** Stores duplicate events again. */
export const storingDuplicates: readonly Change[] = [
  { file: 'store/sqlite/events/dedup.ts', from: 'if (isRepeat(day, sent, active)) return false;', to: '' },
];

/** Detects duplicates within the last calendar days, instead of the last days that have stored events. */
export const countingDaysByCalendar: readonly Change[] = [
  {
    file: 'store/sqlite/events/dedup.ts',
    from: 'found.push(before === noDay ? noDay : (dayBefore.get(...tables.map(() => before)) ?? noDay));',
    to: 'found.push(before - 1);',
  },
];

/** Treats a server token's event as a duplicate of a browser token's event with the same eventUUID. */
export const mixingKindsOfTokens: readonly Change[] = [
  {
    file: 'store/sqlite/events/events.ts',
    from: 'server: browser ? (0 as const) : (1 as const)',
    to: 'server: 0 as const',
  },
];

/** Lets a claim override a verified link. */
export const lettingClaimsOverrideLinks: readonly Change[] = [
  { file: 'identity/statements.ts', from: 'return verified || !isLinked;', to: 'return true;' },
];

/** Allows any number of links to a contact. */
export const withoutContactLinkLimit: readonly Change[] = [
  { file: 'store/operations/links.ts', from: 'yield* dropSurplusLinks(links, account, { contact, claim });', to: '' },
];

/** Allows any number of claims, and any number of links to a contact. */
export const withoutClaimLimit: readonly Change[] = [
  ...withoutContactLinkLimit,
  {
    file: 'store/operations/create-contact.ts',
    from: 'if (earlierClaims.length === 0) yield* dropSurplusClaims(links, account, { contact, claim });',
    to: '',
  },
];

/** Allows any number of claimed links for a user. */
export const withoutUserLinkLimit: readonly Change[] = [
  {
    file: 'store/operations/links.ts',
    from: 'yield* dropLinks(account, findExcessLinks(before, limits.claimedLinksPerUser - 1));',
    to: '',
  },
];

/** Caches a token's rights, even after it is revoked. */
export const cachingTokens: readonly Change[] = [
  {
    file: 'store/sqlite/accounts/access.ts',
    from: 'if (access !== seenAccess) {',
    to: 'if (seenAccess === undefined) {',
  },
];

/** Does not overwrite erased data, and does not repeat recorded erasures after a backup is restored. */
export const withoutOverwriting: readonly Change[] = [
  { file: 'store/sqlite/database/connection.ts', from: 'secure_delete = ON', to: 'secure_delete = OFF' },
  { file: 'store/sqlite/threads/writer-thread.ts', from: 'engine.eraseAgain();', to: '' },
];

/** Leaves erased data in the write-ahead log and in the file's unused space. */
export const keepingLogAndUnusedSpace: readonly Change[] = [
  {
    file: 'store/sqlite/maintenance/write-ahead-log.ts',
    from: 'let holdsErased = true',
    to: 'let holdsErased = false',
  },
  { file: 'store/sqlite/maintenance/write-ahead-log.ts', from: '      holdsErased = true;\n', to: '' },
  // Replaced too, because clearing the unused space would also clear the log.
  {
    file: 'store/sqlite/maintenance/unused-space.ts',
    from: 'clear = (): boolean => {',
    to: 'clear = (): boolean => {\n return true;',
  },
];

/** Acknowledges an erasure before its record is complete. */
export const acknowledgingErasuresEarly: readonly Change[] = [
  { file: 'store/sqlite/store.ts', from: 'eraseContact: createEraseContact(write),', to: '' },
  // Delays the rest until the test has killed the server.
  {
    file: 'store/sqlite/threads/writer-thread.ts',
    from: 'if (maintenance === undefined) maintainAfter(0);',
    to: 'if (maintenance === undefined) maintainAfter(30_000);',
  },
  {
    file: 'store/sqlite/threads/writer-thread.ts',
    from: 'if (rest !== null) maintainAfter(rest);',
    to: 'if (rest !== null) maintainAfter(rest + 30_000);',
  },
];

/** Makes all other writes wait for an erasure on PostgreSQL. */
export const erasingAloneOnPostgres: readonly Change[] = [
  {
    file: 'store/postgres/store.ts',
    from: "auditedWrite('eraseContact', sharedWrite,",
    to: "auditedWrite('eraseContact', exclusiveWrite,",
  },
];
