/**
 * Loads the better-sqlite3 version that works on this Node: 13 from Node 22 on, 12 before.
 *
 * Version 12 aborts on Node 24.19 and later: each Statement's destructor removes a cleanup hook (node_object_wrap.h),
 * which asserts a current context, and a garbage collection between tasks has none. Version 13 aborts on Node 20.
 */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

const require = createRequire(import.meta.url);

/** The alias of the version for this Node in package.json. */
export const packageName = Number.parseInt(process.versions.node, 10) >= 22 ? 'better-sqlite3-13' : 'better-sqlite3';

const Database: typeof BetterSqlite3 = require(packageName);
export default Database;
