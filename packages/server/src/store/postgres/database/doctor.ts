/** Examines a PostgreSQL database for `firsthand doctor`. */
import {
  clockFinding,
  type ExamineOptions,
  type Finding,
  proxyFinding,
  quotaFindings,
  refusedFinding,
} from '../../doctor-findings.ts';
import { measureAccounts } from '../accounts/accounts.ts';
import { readUnknownProxy } from '../accounts/unknown-proxy.ts';
import { examineCluster } from './cluster-findings.ts';
import { onOneConnection, type TakenConnection } from './connection.ts';
import { newestMigration, readSchema } from './migrate.ts';

const examineRows = async (db: TakenConnection, options: ExamineOptions): Promise<Finding[]> => {
  const counts = await db.one<Record<'accounts' | 'tokens', number>>(`
    SELECT (SELECT count(*) FROM account) AS accounts,
      (SELECT count(*) FROM token WHERE kind = 'server' AND "revokedTime" IS NULL) AS tokens`);
  const position = await db.one<{ day: number }>('SELECT max(day) AS day FROM account_position');
  const open = await db.one<{ erasures: number }>('SELECT count(*) AS erasures FROM erasure WHERE NOT complete');
  const refused = await db.one<Record<'listed' | 'evicted', number>>(
    'SELECT coalesce(sum(listed), 0)::bigint AS listed, coalesce(sum(evicted), 0)::bigint AS evicted FROM refused_count',
  );
  const found = { ...counts, ...position, ...open, ...refused };
  return [
    { name: 'accounts', ok: found.accounts > 0, detail: `${found.accounts}, with ${found.tokens} live server tokens` },
    clockFinding(found.day),
    refusedFinding(found),
    proxyFinding(await readUnknownProxy(db)),
    ...(options.accountBytes === undefined ? [] : quotaFindings(await measureAccounts(db), options)),
    { name: 'erasures', ok: true, detail: `${found.erasures} under way` },
  ];
};

const examine = async (db: TakenConnection, options: ExamineOptions): Promise<Finding[]> => {
  const { version } = await db.one<{ version: string }>("SELECT current_setting('server_version') AS version");
  const schema = await readSchema(db);
  const newest = newestMigration();
  const cluster = db.isSpread ? await examineCluster(db) : { findings: [], isWhole: true };
  return [
    { name: 'PostgreSQL', ok: true, detail: version },
    {
      name: 'schema',
      ok: schema === newest,
      detail: `${schema}; this program knows ${newest}${schema < newest ? ', and brings it there at start' : ''}`,
    },
    ...cluster.findings,
    ...(schema === newest && cluster.isWhole ? await examineRows(db, options) : []),
  ];
};

/** Returns the findings about a database; a finding that is not `ok` needs an operator's attention. Changes nothing. */
export const examineDatabase = async (databaseURL: string, options: ExamineOptions): Promise<Finding[]> => {
  try {
    return await onOneConnection(databaseURL, (db) => examine(db, options));
  } catch (error) {
    return [{ name: 'database', ok: false, detail: `it cannot be examined: ${(error as Error).message}` }];
  }
};
