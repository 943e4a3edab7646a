/**
 * The version of better-sqlite3 that this Node can run: 13 from Node 22 on, 12 before.
 *
 * 12 ends the process on Node 24.19 and later: node_object_wrap.h there removes a cleanup hook in the destructor of each
 * Statement, which asserts a current context, and a garbage collection between two tasks has none. 13 ends it on Node 20.
 */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

const require = createRequire(import.meta.url);

/** The name of that version in package.json. */
export const packageName = Number.parseInt(process.versions.node, 10) >= 22 ? 'better-sqlite3-13' : 'better-sqlite3';

const Database: typeof BetterSqlite3 = require(packageName);
export default Database;
